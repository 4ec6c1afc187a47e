// Texts in Traditional Chinese and English. Each folder has its own words in a file of its own, made by
// `words`. The compiler refuses a dictionary in which one of the languages lacks a text.

import { computed, effect, signal } from '@preact/signals'
import { readSetting, writeSetting } from './settings'

export type Language = 'en' | 'zh-Hant'

export const languages: readonly Language[] = ['zh-Hant', 'en']

/** The language of the page. Components that read it follow its changes. */
export const language = signal<Language>(firstLanguage(readSetting('language'), globalThis.navigator?.languages ?? []))

/** Returns the stored choice, or the first language of the browser that the page has, or English. */
export function firstLanguage(stored: string | null, preferred: readonly string[]): Language {
  if (stored === 'en' || stored === 'zh-Hant') return stored
  for (const each of preferred) {
    if (/^zh\b/i.test(each)) return 'zh-Hant'
    if (/^en\b/i.test(each)) return 'en'
  }
  return 'en'
}

/** Sets the language and stores the choice. */
export function chooseLanguage(chosen: Language): void {
  language.value = chosen
  writeSetting('language', chosen)
}

export type Words<Key extends string> = (key: Key, values?: Record<string, string | number>) => string

/**
 * Returns a function from keys to texts in the current language. `{name}` in a text stands for a value.
 */
export function words<Key extends string>(en: Record<Key, string>, zh: Record<NoInfer<Key>, string>): Words<Key> {
  return (key, values) => {
    const text = (language.value === 'en' ? en : zh)[key]
    return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text
  }
}

/** Formats numbers in the current language. */
export const numbers = computed(() => new Intl.NumberFormat(language.value === 'en' ? 'en' : 'zh-TW'))

/** Formats times in the current language and the browser's zone. */
export const times = computed(
  () => new Intl.DateTimeFormat(language.value === 'en' ? 'en' : 'zh-TW', { dateStyle: 'medium', timeStyle: 'medium' }),
)

/** Keeps the language of the document that of the page; screen readers need it. */
export function followLanguage(): void {
  effect(() => {
    document.documentElement.lang = language.value
  })
}
