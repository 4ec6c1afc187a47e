// The explorer: the operations, the form of one, its request and the reply.

import '../styles/explore.css'
import { useEffect } from 'preact/hooks'
import { Message } from '../shell/Message'
import { loadFailures } from './failures'
import { OperationForm } from './OperationForm'
import { OperationChoice, OperationList } from './OperationList'
import { ReplyPanel } from './ReplyPanel'
import { RequestPanel } from './RequestPanel'
import { shown } from './store'
import { text } from './words'

export default function ExploreView() {
  const operation = shown.value
  useEffect(() => void loadFailures(), [])
  return (
    <div class="explorer">
      <OperationList />
      <OperationChoice />
      {typeof operation === 'string' ? (
        <Message title={text('noOperation', { name: operation })} />
      ) : (
        <>
          <OperationForm operation={operation} key={`${operation.func}.${operation.variant}`} />
          <div class="exchange">
            <RequestPanel operation={operation} />
            <ReplyPanel operation={operation} />
          </div>
        </>
      )}
    </div>
  )
}
