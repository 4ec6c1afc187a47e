import { language, numbers } from './i18n'

/** Formats a size in bytes. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${numbers.value.format(bytes)} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes / 1024
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value.toLocaleString(language.value, { maximumFractionDigits: value < 10 ? 1 : 0 })} ${units[unit]}`
}

/** Formats a time in milliseconds. */
export function formatMilliseconds(milliseconds: number): string {
  return `${milliseconds.toLocaleString(language.value, { maximumFractionDigits: milliseconds < 10 ? 1 : 0 })} ms`
}
