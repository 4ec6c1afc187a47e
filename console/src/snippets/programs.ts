// Programs that send the request of a form.

import { curl } from './curl'
import { go } from './go'
import { java } from './java'
import { php } from './php'
import { python } from './python'

export const programs = { curl, PHP: php, Python: python, Java: java, Go: go } as const

export type Program = keyof typeof programs
