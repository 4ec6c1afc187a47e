// What the bar of the page has: the mark, and the choices of the language and the theme.

import { chooseLanguage, language, languages } from '../i18n'
import { chooseTheme, theme, themes, type Theme } from '../theme'
import { text } from './words'

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 9.5 12 23l4-9 4 9 5-13.5" />
    </svg>
  )
}

export function LanguageChoice() {
  const names = { 'zh-Hant': '繁體中文', en: 'English' }
  return (
    <label class="choice">
      <span class="hidden">{text('language')}</span>
      <select
        value={language.value}
        onChange={event => chooseLanguage(event.currentTarget.value === 'en' ? 'en' : 'zh-Hant')}
        data-testid="language"
      >
        {languages.map(each => (
          <option key={each} value={each} lang={each}>
            {names[each]}
          </option>
        ))}
      </select>
    </label>
  )
}

export function ThemeChoice() {
  return (
    <label class="choice">
      <span class="hidden">{text('theme')}</span>
      <select
        value={theme.value}
        onChange={event => chooseTheme(event.currentTarget.value as Theme)}
        data-testid="theme"
      >
        {themes.map(each => (
          <option key={each} value={each}>
            {text(each)}
          </option>
        ))}
      </select>
    </label>
  )
}
