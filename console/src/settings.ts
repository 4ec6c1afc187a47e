// What the browser stores: the last form, the language and the theme. Nothing else.

type Setting = 'form' | 'language' | 'theme'

const prefix = 'waybook.'

/** Returns a stored setting, or null if there is none or the browser refuses storage. */
export function readSetting(name: Setting): string | null {
  try {
    return localStorage.getItem(prefix + name)
  } catch {
    return null
  }
}

/** Stores a setting. It does nothing if the browser refuses: the page works without. */
export function writeSetting(name: Setting, value: string): void {
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    return
  }
}
