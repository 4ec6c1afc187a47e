import { language, numbers } from './i18n'

const visible = /[^\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}\u{16FE4}]/u

/** A title or a name, or what stands for one that shows nothing: a link would have no width. */
export function visibleOr(title: string, instead: string): string {
  return visible.test(title) ? title.trim() : instead
}

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
