// Light or dark colours, as the courier chose them.
import { useEffect } from 'preact/hooks'
import { useStoredData } from './hooks.ts'
import { readSetting } from './store/base.ts'

/** Page's two theme colours, for the browser's own bars, each with the condition that the server wrote. */
const themeBars = [...document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')].map((meta) => ({
  meta,
  media: meta.media,
}))

/** Shows the page in the colours that the courier chose, or else in those of the phone. */
export function useTheme() {
  const theme = useStoredData(async () => (await readSetting('theme')) ?? null, '')
  useEffect(() => {
    if (theme) document.documentElement.dataset.tema = theme
    else delete document.documentElement.dataset.tema
    for (const { meta, media } of themeBars) {
      const isChosenTheme = media.includes(theme === 'oscuro' ? 'dark' : 'light')
      meta.media = theme ? (isChosenTheme ? 'all' : 'not all') : media
    }
  }, [theme])
}
