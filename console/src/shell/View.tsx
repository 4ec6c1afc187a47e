// The views. Each is loaded when it is opened for the first time.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Message } from './Message'
import { text } from './words'

const loaders: Record<string, () => Promise<{ default: ComponentType }>> = {
  explore: () => import('../explore/ExploreView'),
  map: () => import('../map/MapView'),
  read: () => import('../read/ReadView'),
  account: () => import('../account/AccountView'),
  health: () => import('../health/HealthView'),
}

export function View({ name }: { name: string }) {
  const [shown, show] = useState<{ name: string; view: ComponentType | 'failed' }>()
  useEffect(() => {
    let isCurrent = true
    loaders[name]?.().then(
      module => isCurrent && show({ name, view: module.default }),
      () => isCurrent && show({ name, view: 'failed' }),
    )
    return () => {
      isCurrent = false
    }
  }, [name])
  if (!loaders[name]) return <Message title={text('notFound')} />
  if (shown?.name !== name) return <Message busy title={text('loading')} />
  if (shown.view === 'failed') {
    return (
      <Message title={text('viewFailed')} detail={text('viewFailedAction')}>
        <button class="primary" type="button" onClick={() => location.reload()}>
          {text('reload')}
        </button>
      </Message>
    )
  }
  const Shown = shown.view
  return <Shown />
}
