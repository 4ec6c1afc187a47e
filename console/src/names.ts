// Names for people. The description has those of operations and parameters in both languages; groups are the page's own.

import { language } from './i18n'
import type { Operation, Parameter, Title } from './description'

const groups: Record<string, Title> = {
  album: ['Albums', '相簿'],
  poi: ['Landmarks', '地標'],
  blog: ['Diary', '日記'],
  session: ['Session', '登入'],
  content: ['Photos, comments, votes', '相片、留言、投票'],
}

function inLanguage(title: Title): string {
  return title[language.value === 'en' ? 0 : 1]
}

/** Returns the name of an operation. */
export function operationTitle({ title }: Pick<Operation, 'title'>): string {
  return inLanguage(title)
}

/** Returns the name of a group of operations. */
export function groupTitle(group: string): string {
  return Object.hasOwn(groups, group) ? inLanguage(groups[group]!) : group
}

/** Returns the name of a parameter. */
export function parameterTitle({ title, name }: Pick<Parameter, 'title' | 'name'>): string {
  return title ? inLanguage(title) : name
}
