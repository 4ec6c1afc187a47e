import { text } from '../shell/words'

export default function HealthView() {
  return <h1>{text('health')}</h1>
}
