import { render } from 'preact'
import { followLanguage } from '../i18n'
import { followTheme } from '../theme'
import { Frame } from './Frame'

followTheme()
followLanguage()
render(<Frame />, document.getElementById('page')!)
