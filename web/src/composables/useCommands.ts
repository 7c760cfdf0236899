// What a person can do by name: one list for the palette, the slash menu and the shortcuts.
import { computed } from 'vue'
import { useI18n } from 'vue-i18n'

import { useRoute } from './useRoute'

import type { IconName } from '@/components/common/icons'
import { ApiError } from '@/lib/api'
import { levelView, LEVELS } from '@/lib/levels'
import type { ShortcutId } from '@/lib/shortcuts'
import { useActs } from '@/stores/acts'
import { useChat } from '@/stores/chat'
import { useFiles } from '@/stores/files'
import { useModels } from '@/stores/models'
import { usePrefs } from '@/stores/prefs'
import { useSessions } from '@/stores/sessions'
import { useUi } from '@/stores/ui'
import { useWritten } from '@/stores/written'
import { summarise } from '@/transport/model'

export interface Command {
  /** The word after the slash. */
  name: string
  icon: IconName
  text: string
  shortcut: ShortcutId | null
  /** `/name words`; without it the command takes none. */
  argument: 'optional' | 'required' | null
  run: (argument: string) => void
}

export function useCommands() {
  const { t } = useI18n()
  const { go } = useRoute()
  const chat = useChat()
  const acts = useActs()
  const models = useModels()
  const sessions = useSessions()
  const prefs = usePrefs()
  const ui = useUi()
  const files = useFiles()
  const written = useWritten()

  function focus(): void {
    document.getElementById('composer-field')?.focus()
  }

  const offered = computed(() => {
    const model = models.find(chat.modelRef)
    const level = chat.current?.level ?? null
    return levelView(model, level).options.filter((option) => !option.disabled)
  })

  function setLevel(word: string): void {
    const wanted = word.toLowerCase()
    const known = [...LEVELS, 'unset', 'default', 'none', 'on', 'auto', 'ultra'] as string[]
    const named = offered.value.find((option) => t(`level.${option.name}`).toLowerCase() === wanted)
    const level = named?.value ?? known.find((name) => name === wanted)
    if (level === undefined) ui.toast(t('slash.unknownLevel', { word }))
    else void chat.setLevel(level)
  }

  /** One step along the levels of this model; stays at the ends. */
  function stepLevel(step: 1 | -1): void {
    const values = offered.value.map((option) => option.value)
    const now = chat.current?.level ?? null
    const at = values.indexOf(now?.effective ?? chat.draft.level ?? '')
    const standard = offered.value.findIndex((option) => option.isDefault)
    const next = values[(at === -1 ? standard : at) + step]
    if (next !== undefined) void chat.setLevel(next)
  }

  function setModel(word: string): void {
    const wanted = word.toLowerCase()
    const fits = models.models.filter((model) =>
      `${model.ref} ${model.label}`.toLowerCase().includes(wanted),
    )
    const found = fits.find((model) => model.ref.toLowerCase() === wanted) ?? fits[0]
    if (found === undefined) ui.toast(t('slash.unknownModel', { word }))
    else void chat.setModel(found.ref)
  }

  function toggleSidebar(): void {
    if (matchMedia('(max-width: 700px)').matches) ui.drawer = !ui.drawer
    else prefs.sidebarOpen = !prefs.sidebarOpen
  }

  /** Runs what needs a conversation, or says that there is none. */
  function here(work: (sessionId: string) => void): () => void {
    return () => {
      if (chat.currentId === null) ui.toast(t('slash.needsSession'))
      else work(chat.currentId)
    }
  }

  async function rename(sessionId: string, title: string): Promise<void> {
    try {
      await sessions.rename(sessionId, title)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      ui.toast(error.message)
    }
  }

  async function fork(sessionId: string): Promise<void> {
    const id = await acts.fork(sessionId, null)
    if (id !== null) go(id)
  }

  /** Undo or redo of what the last run did to files; tells what came of it. */
  async function putFiles(sessionId: string, back: boolean): Promise<void> {
    await files.load(sessionId)
    const done = await files.put(back, null)
    if (done === null) {
      ui.toast(files.error?.message ?? '')
      return
    }
    const told = t(back ? 'work.files.undone' : 'work.files.redone')
    const left = done.left.length > 0 ? t('work.files.left', { names: done.left.join(', ') }) : ''
    ui.toast(`${told} ${done.done.join(', ')} ${left}`.trim())
  }

  function addTodo(sessionId: string, content: string): void {
    const todos = chat.open.get(sessionId)?.todos ?? []
    const id = `p${summarise(todos).total + 1}-${Date.now().toString(36)}`
    const made = { id, content, status: 'pending', origin: 'person' } as const
    void acts.editTodos(sessionId, [...todos, { ...made, plan_revision: null, reason: null }])
  }

  const command = (
    name: string,
    icon: IconName,
    run: Command['run'],
    more: Partial<Pick<Command, 'shortcut' | 'argument' | 'text'>> = {},
  ): Command => ({
    name,
    icon,
    text: more.text ?? t(`slash.${name}`),
    shortcut: more.shortcut ?? null,
    argument: more.argument ?? null,
    run,
  })

  const withWords = (work: (sessionId: string, words: string) => void) => (words: string) => {
    here((id) => {
      work(id, words)
    })()
  }

  const commands = computed<Command[]>(() => {
    const running = chat.current?.running === true
    const inSession = chat.currentId !== null
    return [
      command('new', 'plus', () => { go(null) }, { shortcut: 'new' }),
      ...(chat.modelRef === null
        ? []
        : [
            command('level', 'bulb', setLevel, { argument: 'required' }),
            command('model', 'robot', setModel, { argument: 'required' }),
          ]),
      command('plan', 'inspect', () => void chat.setMode('plan')),
      command('build', 'play', () => void chat.setMode('build')),
      ...(running
        ? [
            command('answer', 'forward', here((id) => void acts.answerNow(id))),
            command('stop', 'stop', () => void chat.stop(), { shortcut: 'stop' }),
          ]
        : []),
      ...(inSession
        ? [
            command('todo', 'clipboard', withWords(addTodo), { argument: 'required' }),
            command('find', 'search', () => { ui.find = true }, { shortcut: 'find' }),
            command('rename', 'pencil', withWords((id, title) => void rename(id, title)), {
              argument: 'required',
            }),
            command('fork', 'branch', here((id) => void fork(id))),
            command('export', 'download', here((id) => { ui.exporting = id })),
            command('undo', 'back', here((id) => void putFiles(id, true))),
            command('redo', 'forward', here((id) => void putFiles(id, false))),
            command('compact', 'archive', here((id) => void acts.compact(id))),
          ]
        : []),
      ...(inSession
        ? [
            command('files', 'file', byShortcut.files, {
              shortcut: 'files',
              text: t('work.files.title'),
            }),
            command('inspector', 'inspect', byShortcut.inspector, {
              shortcut: 'inspector',
              text: t('inspector.title'),
            }),
          ]
        : []),
      command('usage', 'bars', () => { ui.openUsage() }, { text: t('work.usage.title') }),
      command('keys', 'keyboard', () => { ui.keys = true }, { shortcut: 'help' }),
      command('settings', 'gear', () => { ui.openSettings() }),
      ...written.commands.map(({ name, text, description }) =>
        command(name, 'file', (words) => void chat.send(`/${name} ${words}`.trim()), {
          argument: 'optional',
          text: description || text,
        }),
      ),
    ]
  })

  /** True when the words were a command and have been carried out. */
  function perform(words: string): boolean {
    const found = /^\/(\w+)(?:\s+([\s\S]+))?$/.exec(words.trim())
    const wanted = commands.value.find((one) => one.name === found?.[1])
    if (wanted === undefined) return false
    const argument = found?.[2]?.trim() ?? ''
    if (wanted.argument === null && argument !== '') return false
    if (wanted.argument === 'required' && argument === '') return false
    wanted.run(argument)
    return true
  }

  const byShortcut: Record<ShortcutId, () => void> = {
    palette: () => { ui.palette = !ui.palette },
    new: () => { go(null) },
    find: here(() => { ui.find = true }),
    sidebar: toggleSidebar,
    files: here(() => { ui.files = !ui.files }),
    inspector: here(() => { ui.inspector = !ui.inspector }),
    levelUp: () => { stepLevel(1) },
    levelDown: () => { stepLevel(-1) },
    mode: () => void chat.setMode((chat.current?.mode ?? chat.draft.mode) === 'plan' ? 'build' : 'plan'),
    focus,
    latest: here((sessionId) => { ui.goal = { sessionId, messageId: null } }),
    stop: () => void chat.stop(),
    help: () => { ui.keys = true },
  }

  /** Reads the commands kept as files, once somebody looks for a command. */
  const prepare = () => void written.load(chat.currentId)

  return { commands, perform, prepare, byShortcut, focus }
}
