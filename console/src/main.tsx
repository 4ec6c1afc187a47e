import { render } from 'preact'
import { loadDescription } from './description'
import { followLanguage } from './i18n'
import { keepScroll } from './shell/scroll'
import { Shell } from './shell/Shell'
import { followTheme } from './theme'

followTheme()
followLanguage()
render(<Shell />, document.getElementById('page')!)
keepScroll()
void loadDescription()
