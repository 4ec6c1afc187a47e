// Writes of the reading views. A button is there only where the service has the operation for this
// kind of content.

import { call } from '../api'
import { description, type Operation } from '../description'
import type { Content, ContentKind } from './model'

/** The parameters that name content. */
export const idParameters: Record<ContentKind, string> = { album: 'albumID', blog: 'blogID', landmark: 'POIID' }

/** Returns the operation of a func for a kind of content, if the service has it. */
export function actionFor(operations: readonly Operation[], func: string, kind: ContentKind): Operation | undefined {
  return operations.find(
    each => each.func === func && each.login && (each.parameters ?? []).some(one => one.name === idParameters[kind]),
  )
}

/** Reports whether the service has an operation for this content. */
export function can(func: string, content: Content): boolean {
  return actionFor(description().operations, func, content.kind) !== undefined
}

/** Calls an operation for content. It rejects with a CallFailure. */
export async function act(
  func: string,
  content: Content,
  parameters: Record<string, string | number> = {},
): Promise<void> {
  await call(func, { [idParameters[content.kind]]: content.id, ...parameters }, { method: 'POST' })
}
