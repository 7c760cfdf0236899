import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { i18n, useLocale } from '@/i18n'
import en from '@/i18n/en'
import zh from '@/i18n/zh-CN'

type Tree = { [key: string]: string | Tree }

function flat(tree: Tree, prefix = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [key, value] of Object.entries(tree)) {
    const path = prefix ? `${prefix}.${key}` : key
    if (typeof value === 'string') found.set(path, value)
    else for (const [inner, text] of flat(value, path)) found.set(inner, text)
  }
  return found
}

/** The code of the page, without its texts and its generated types. */
function sourcesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      return ['i18n', 'generated'].includes(entry.name) ? [] : sourcesOf(path)
    }
    return /\.(ts|vue)$/.test(entry.name) ? [readFileSync(path, 'utf8')] : []
  })
}

const english = flat(en)
const chinese = flat(zh as unknown as Tree)
const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1]).sort()

describe('the two languages', () => {
  it('have the same texts', () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort())
  })

  it('leave the same places to fill', () => {
    for (const [key, text] of english) {
      expect([key, holes(chinese.get(key) ?? '')]).toEqual([key, holes(text)])
    }
  })

  it('can be read: each text is a well-formed message', async () => {
    for (const locale of ['en', 'zh-CN'] as const) {
      await useLocale(locale)
      for (const key of english.keys()) {
        expect([key, i18n.global.t(key, { n: 2 }, 2)]).not.toEqual([key, ''])
      }
    }
  })

  it('hold no text that nothing shows', () => {
    const source = sourcesOf('src').join('\n')
    const named = new Set([...source.matchAll(/['"`]([a-z]+(?:\.[\w-]+)+)['"`]/gi)].map((m) => m[1]))
    const begun = [...source.matchAll(/`([a-z]+\.(?:[\w-]+\.)*)\$\{/gi)].map((m) => m[1] ?? '')
    const shown = (key: string) => named.has(key) || begun.some((start) => key.startsWith(start))
    expect([...english.keys()].filter((key) => !shown(key))).toEqual([])
  })

  it('leave no text empty', () => {
    for (const texts of [english, chinese]) {
      expect([...texts].filter(([, text]) => text.trim() === '')).toEqual([])
    }
  })

  it('say what is fixed by the letter', () => {
    const fixed = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'adaptive', 'unset']
    const words = ['关闭', '极简', '低', '中等', '高', '超高', '最高', '自适应', '厂商默认']
    expect(fixed.map((level) => chinese.get(`level.${level}`))).toEqual(words)
    expect(chinese.get('level.placeholder')).toBe('思考级别')
    expect(chinese.get('thinking.title')).toBe('思考过程')
    expect(chinese.get('thinking.live')).toBe('思考中…')
    expect(chinese.get('todo.title')).toBe('任务规划')
    expect(chinese.get('todo.done')).toBe('{c}/{t} 完成')
    expect(chinese.get('todo.active')).toBe('进行中')
    expect(chinese.get('sidebar.running')).toBe('执行中…')
    expect(chinese.get('meter.run')).toBe('↑{in} ↓{out} · {n}次')
    expect(chinese.get('meter.context')).toBe('上下文 {p}%')
    expect(['ok', 'error', 'show', 'hide'].map((key) => chinese.get(`tool.${key}`))).toEqual([
      '完成',
      '失败',
      '查看结果',
      '收起',
    ])
  })
})

describe('the components', () => {
  it('hold no text of their own', () => {
    const root = join(import.meta.dirname, '../src')
    const vue = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.vue'),
    )
    for (const name of vue) {
      const source = readFileSync(join(root, name), 'utf8')
      // Language names stand in their own language, and the product's name is no translation.
      const rest = source.replace(/思路|'中文'|'中' : 'EN'|“/g, '')
      expect([name, /[\u4e00-\u9fff]/.exec(rest)?.[0]]).toEqual([name, undefined])
    }
  })

  it('ask for no text that is missing', () => {
    const root = join(import.meta.dirname, '../src')
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(vue|ts)$/.test(name),
    )
    const missing: string[] = []
    for (const name of names) {
      const source = readFileSync(join(root, name), 'utf8')
      for (const [, key] of source.matchAll(/\bt\(\s*'([\w.]+)'/g)) {
        if (key && !english.has(key)) missing.push(`${name}: ${key}`)
      }
    }
    expect(missing).toEqual([])
  })
})
