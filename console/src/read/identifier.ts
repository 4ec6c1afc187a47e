/** Reports whether a text is an identifier (rule 2.6). */
export function isIdentifier(id: string | undefined): id is string {
  return id !== undefined && /^[0-9]{1,16}$/.test(id) && Number(id) >= 1 && Number(id) <= Number.MAX_SAFE_INTEGER
}
