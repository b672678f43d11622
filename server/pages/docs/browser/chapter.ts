// Script of a chapter's page, which is complete without it: the search, copy buttons, and keys that scroll wide tables.
import { addCopyButtons } from './copy.ts'
import { startSearch } from './frame.ts'
import { makeFocusable } from './keyboard.ts'

startSearch()
const content = document.querySelector<HTMLElement>('main')!
addCopyButtons(content, 'main')
makeFocusable(content)
