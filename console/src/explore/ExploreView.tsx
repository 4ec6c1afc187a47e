import { description, operationName } from '../description'
import { text } from '../shell/words'

export default function ExploreView() {
  return (
    <>
      <h1>{text('explore')}</h1>
      <ul>
        {description().operations.map(each => (
          <li key={operationName(each)}>{operationName(each)}</li>
        ))}
      </ul>
    </>
  )
}
