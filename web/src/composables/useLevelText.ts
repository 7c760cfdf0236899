import { useI18n } from 'vue-i18n'

import type { LevelState } from '@/generated/protocol'
import { levelView } from '@/lib/levels'
import { useModels } from '@/stores/models'

/** A turn's level in words: "High", or "asked Medium → sent Low". */
export function useLevelText() {
  const { t, te } = useI18n()
  const models = useModels()

  function levelName(name: string): string {
    const key = `level.${name}`
    return te(key) ? t(key) : name
  }

  function levelText(modelRef: string | null, state: LevelState | null): string {
    if (!state) return ''
    const view = levelView(models.find(modelRef), state)
    const asked = levelName(view.current)
    if (view.sentAs === null) return asked
    return t('level.sent', { asked, sent: levelName(view.sentAs) })
  }

  return { levelName, levelText }
}
