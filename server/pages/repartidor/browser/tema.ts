// Light or dark colours, as the courier chose them.
import { useEffect } from 'preact/hooks'
import { useDatos } from './hooks.ts'
import { leerAjuste } from './store/base.ts'

/** Page's two theme colours, for the browser's own bars, each with the condition that the server wrote. */
const barras = [...document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')].map((meta) => ({
  meta,
  condicion: meta.media,
}))

/** Shows the page in the colours that the courier chose, or else in those of the phone. */
export function useTema() {
  const tema = useDatos(async () => (await leerAjuste('tema')) ?? null, '')
  useEffect(() => {
    if (tema) document.documentElement.dataset.tema = tema
    else delete document.documentElement.dataset.tema
    for (const { meta, condicion } of barras) {
      const esLaSuya = condicion.includes(tema === 'oscuro' ? 'dark' : 'light')
      meta.media = tema ? (esLaSuya ? 'all' : 'not all') : condicion
    }
  }, [tema])
}
