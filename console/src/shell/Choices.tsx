// What the bar of the page has: the mark, and the choices of the language and the theme.

import { useEffect, useRef, useState } from 'preact/hooks'
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

/** The choices side by side, or in a menu where the bar has no room for them. */
export function Choices() {
  const [isOpen, setOpen] = useState(false)
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const close = (event: Event) => {
      const isInside = event.target instanceof Node && menu.current?.contains(event.target)
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !isInside) setOpen(false)
      if (event instanceof KeyboardEvent && event.key === 'Escape') button.current?.focus()
    }
    addEventListener('pointerdown', close)
    addEventListener('keydown', close)
    return () => {
      removeEventListener('pointerdown', close)
      removeEventListener('keydown', close)
    }
  }, [isOpen])
  return (
    <div class={isOpen ? 'choices open' : 'choices'} ref={menu}>
      <button
        class="plain"
        type="button"
        ref={button}
        aria-expanded={isOpen}
        aria-controls="choices"
        aria-label={text('settings')}
        onClick={() => setOpen(!isOpen)}
        data-testid="settings"
      >
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5v5M8 14.5v5" />
        </svg>
      </button>
      <div class="choices-fields" id="choices">
        <LanguageChoice />
        <ThemeChoice />
      </div>
    </div>
  )
}

function LanguageChoice() {
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

function ThemeChoice() {
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
