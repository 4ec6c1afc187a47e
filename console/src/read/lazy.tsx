import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Returns a component whose code is loaded when it is first shown. Until then, and if that fails, it shows nothing. */
export function lazy<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  return function Lazy(props: Props) {
    const [Shown, show] = useState<ComponentType<Props>>()
    useEffect(() => {
      load().then(
        module => show(() => module.default),
        () => undefined,
      )
    }, [])
    return Shown ? <Shown {...props} /> : null
  }
}
