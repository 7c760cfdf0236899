import { createI18n } from 'vue-i18n'

import type en from './en'

export type Locale = 'en' | 'zh-CN'
export type Texts = { [K in keyof typeof en]: TextsOf<(typeof en)[K]> }
type TextsOf<T> = T extends string ? string : { [K in keyof T]: TextsOf<T[K]> }

export function detectLocale(): Locale {
  return navigator.languages.some((tag) => tag.toLowerCase().startsWith('zh')) &&
    !navigator.language.toLowerCase().startsWith('en')
    ? 'zh-CN'
    : 'en'
}

// Each language is loaded when it is first used: a reader pays for one.
const loaders: Record<Locale, () => Promise<{ default: Texts }>> = {
  en: () => import('./en'),
  'zh-CN': () => import('./zh-CN'),
}

export const i18n = createI18n({
  legacy: false as const,
  locale: 'en' as Locale,
  fallbackLocale: 'en',
  missingWarn: false,
  fallbackWarn: false,
  messages: {} as Record<Locale, Texts>,
})

const loaded = new Set<Locale>()

export async function useLocale(locale: Locale): Promise<void> {
  if (!loaded.has(locale)) {
    const texts = await loaders[locale]()
    i18n.global.setLocaleMessage(locale, texts.default)
    loaded.add(locale)
  }
  i18n.global.locale.value = locale
  document.documentElement.lang = locale
}

export function currentLocale(): Locale {
  return i18n.global.locale.value
}
