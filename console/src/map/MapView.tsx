import { text } from '../shell/words'

export default function MapView() {
  return <h1>{text('map')}</h1>
}
