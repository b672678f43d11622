import { createSignedLinks, type LinkParameters } from '../../../server/domain/archivos/links.ts'
import { createSecrets } from '../../../server/platform/secrets.ts'
import { type FuzzTarget, requireHolds } from '../target.ts'

const secretos = createSecrets([Buffer.alloc(32, 1), Buffer.alloc(32, 2)])
const AHORA = new Date('2026-11-22T12:00:00Z')
const createFolderLinks = (folder: 'archivos' | 'etiquetas', minutesAgo = 0) =>
  createSignedLinks({
    secretos,
    folder,
    minutes: 15,
    publicUrl: '',
    clock: () => new Date(AHORA.getTime() - minutesAgo * 60_000),
  })
const FOLDERS = (['archivos', 'etiquetas'] as const).map((folder) => ({
  links: createFolderLinks(folder),
  validLinks: new Set([
    createFolderLinks(folder).create('arch_7K3M9QX2A1B4', 'inline').url.split('/').at(-1),
    createFolderLinks(folder).create('7K3M9QX2A1B4', 'inline', 'carta').url.split('/').at(-1),
    createFolderLinks(folder, 14).create('7K3M9QX2A1B4-7K3M9QX2A1B5', 'attachment').url.split('/').at(-1),
  ]),
  expiredLink: createFolderLinks(folder, 16).create('arch_7K3M9QX2A1B4', 'inline').url.split('/').at(-1)!,
}))

/** A signed link is good only as it was made, for the folder for which it was made, and for its while. */
export const target: FuzzTarget = {
  seeds: FOLDERS.flatMap(({ validLinks, expiredLink }) => [...validLinks, expiredLink] as string[]),
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
  probar(input) {
    const text = input.toString('utf8')
    const [name = '', ...queryParts] = text.split('?')
    const searchParams = new URLSearchParams(queryParts.join('?'))
    const linkParameters: LinkParameters = Object.fromEntries(searchParams)
    // As it would stand if nothing but what is verified were written down.
    const { v, exp, kid, disp, formato, firma } = linkParameters
    const formatQuery = formato === undefined ? '' : `&formato=${formato}`
    const writtenLink = `${name}?v=${v}&exp=${exp}&kid=${kid}&disp=${disp}${formatQuery}&firma=${firma}`
    for (const { links, validLinks } of FOLDERS) {
      const expectedToPass = links.verify(name, linkParameters)
      requireHolds(
        (expectedToPass !== undefined) === validLinks.has(writtenLink),
        'it is good if, and only if, it was made',
      )
      requireHolds(expectedToPass === undefined || expectedToPass === disp, 'it wants what it says')
    }
  },
}
