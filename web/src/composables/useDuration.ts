import { useI18n } from 'vue-i18n'

import { compactNumber, splitDuration } from '@/lib/format'

/** Durations and token counts in the reader's language. */
export function useDuration() {
  const { t } = useI18n()
  function duration(ms: number): string {
    const { unit, minutes, seconds } = splitDuration(ms)
    return unit === 'seconds'
      ? t('time.seconds', { n: seconds })
      : t('time.minutes', { m: minutes, s: seconds })
  }
  function tokens(count: number): string {
    return t('time.tokens', { n: compactNumber(count) })
  }
  return { duration, tokens }
}
