import { createSignedLinks, type LinkParameters } from '../../../server/domain/archivos/links.ts'
import { createSecrets } from '../../../server/platform/secrets.ts'
import { type FuzzTarget, requireHolds } from '../blanco.ts'

const secretos = createSecrets([Buffer.alloc(32, 1), Buffer.alloc(32, 2)])
const AHORA = new Date('2026-11-22T12:00:00Z')
const deCarpeta = (carpeta: 'archivos' | 'etiquetas', hace = 0) =>
  createSignedLinks({
    secretos,
    folder: carpeta,
    minutes: 15,
    publicUrl: '',
    clock: () => new Date(AHORA.getTime() - hace * 60_000),
  })
const CARPETAS = (['archivos', 'etiquetas'] as const).map((carpeta) => ({
  enlaces: deCarpeta(carpeta),
  buenos: new Set([
    deCarpeta(carpeta).create('arch_7K3M9QX2A1B4', 'inline').url.split('/').at(-1),
    deCarpeta(carpeta).create('7K3M9QX2A1B4', 'inline', 'carta').url.split('/').at(-1),
    deCarpeta(carpeta, 14).create('7K3M9QX2A1B4-7K3M9QX2A1B5', 'attachment').url.split('/').at(-1),
  ]),
  vencido: deCarpeta(carpeta, 16).create('arch_7K3M9QX2A1B4', 'inline').url.split('/').at(-1)!,
}))

/** A signed link is good only as it was made, for the folder for which it was made, and for its while. */
export const blanco: FuzzTarget = {
  semillas: CARPETAS.flatMap(({ buenos, vencido }) => [...buenos, vencido] as string[]),
  words: [
    'v=1',
    'v=2',
    'exp=9999999999',
    'exp=0',
    'kid=',
    'disp=inline',
    'disp=attachment',
    'formato=carta',
    'firma=',
    '&',
    '?',
    '%0a',
    '\n',
    '-',
    '/',
    '..',
    '1795348800',
    '=',
    'A',
    '%00',
    '+',
  ],
  probar(entrada) {
    const texto = entrada.toString('utf8')
    const [nombre = '', ...consulta] = texto.split('?')
    const parametros = new URLSearchParams(consulta.join('?'))
    const suyos: LinkParameters = Object.fromEntries(parametros)
    // As it would stand if nothing but what is verified were written down.
    const { v, exp, kid, disp, formato, firma } = suyos
    const conFormato = formato === undefined ? '' : `&formato=${formato}`
    const escrito = `${nombre}?v=${v}&exp=${exp}&kid=${kid}&disp=${disp}${conFormato}&firma=${firma}`
    for (const { enlaces, buenos } of CARPETAS) {
      const quiere = enlaces.verify(nombre, suyos)
      requireHolds((quiere !== undefined) === buenos.has(escrito), 'it is good if, and only if, it was made')
      requireHolds(quiere === undefined || quiere === disp, 'it wants what it says')
    }
  },
}
