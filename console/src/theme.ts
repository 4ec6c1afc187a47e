// The theme: light, dark, or that of the system. Colours are custom properties in styles/tokens.css.

import { computed, effect, signal } from '@preact/signals'
import { readSetting, writeSetting } from './settings'

export type Theme = 'auto' | 'light' | 'dark'

export const themes: readonly Theme[] = ['auto', 'light', 'dark']

const stored = readSetting('theme')
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'auto')

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(system.matches)
system.addEventListener('change', event => (systemIsDark.value = event.matches))

/** Says whether the page is dark now. What is drawn on a canvas reads it; the rest uses custom properties. */
export const isDark = computed(() => theme.value === 'dark' || (theme.value === 'auto' && systemIsDark.value))

/** Sets the theme and stores the choice. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  writeSetting('theme', chosen)
}

const prints = signal(false)

/** Keeps the attribute that selects the colours up to date. On paper they are always the light ones. */
export function followTheme(): void {
  addEventListener('beforeprint', () => (prints.value = true))
  addEventListener('afterprint', () => (prints.value = false))
  effect(() => {
    document.documentElement.dataset.theme = isDark.value && !prints.value ? 'dark' : 'light'
  })
}
