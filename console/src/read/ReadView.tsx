import { text } from '../shell/words'

export default function ReadView() {
  return <h1>{text('read')}</h1>
}
