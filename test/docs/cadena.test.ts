import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COMPLETO } from '../fabricas.ts'

const raiz = new URL('../../', import.meta.url)
const leer = (ruta: string) => readFileSync(new URL(ruta, raiz), 'utf8')

interface Paquete {
  version?: string
  resolved?: string
  integrity?: string
  license?: string
  link?: boolean
  dev?: boolean
  hasInstallScript?: boolean
}
const { packages } = JSON.parse(leer('package-lock.json')) as { packages: Record<string, Paquete> }
/** All that npm installs, without this repository's own packages. */
const instalados = Object.entries(packages).filter(([ruta, { link }]) => ruta.includes('node_modules/') && !link)

/** Licences under which the service may be passed on; LGPL is libvips, which sharp links dynamically. */
const LICENCIAS = [
  ...['MIT', 'ISC', '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'Python-2.0'],
  ...['LGPL-3.0-or-later', 'CC0-1.0'],
]
/** Their package.json says it in a form that npm doesn't read; their LICENSE is MIT. */
const SIN_DECLARAR = ['busboy', 'png-js', 'streamsearch']

describe('the supply chain', () => {
  it('is npm’s registry alone, each package with its digest', () => {
    expect(instalados.length).toBeGreaterThan(100)
    const raros = instalados.filter(
      ([, { resolved, integrity }]) =>
        !(integrity?.startsWith('sha512-') && (!resolved || resolved.startsWith('https://registry.npmjs.org/'))),
    )
    expect(raros.map(([ruta]) => ruta)).toEqual([])
  })

  it('names exact versions', () => {
    for (const ruta of ['package.json', 'sdk/package.json', 'test/package.json', 'bench/package.json']) {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(leer(ruta)) as Record<string, object>
      for (const [nombre, version] of Object.entries({ ...dependencies, ...devDependencies }))
        expect([ruta, nombre, version]).toEqual([
          ruta,
          nombre,
          expect.stringMatching(/^(npm:(@?[\w./-]+)@)?\d+\.\d+\.\d+(-[\w.]+)?$/),
        ])
    }
  })

  it('runs install scripts only of who is named', () => {
    const { allowScripts } = JSON.parse(leer('package.json')) as { allowScripts: Record<string, boolean> }
    const conGuion = instalados.filter(([, { hasInstallScript }]) => hasInstallScript).map(([ruta]) => ruta)
    const nombres = new Set(conGuion.map((ruta) => ruta.split('node_modules/').at(-1)!))
    expect([...nombres].filter((nombre) => !(nombre in allowScripts)).sort()).toEqual([])
  })

  it('of what is passed on has licences that let it be', () => {
    const ajenas = instalados.flatMap(([ruta, { license, dev }]) => {
      const nombre = ruta.split('node_modules/').at(-1)!
      if (dev || (license === undefined && SIN_DECLARAR.includes(nombre))) return []
      const suyas = (license ?? 'none').replace(/[()]/g, '').split(/ (?:AND|OR) /)
      return suyas.every((una) => LICENCIAS.includes(una)) ? [] : [[nombre, license]]
    })
    expect(ajenas).toEqual([])
  })

  it('has a bill of materials, of what production takes and nothing else', COMPLETO, () => {
    const { stdout, status } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: raiz, encoding: 'utf8' })
    expect(status).toBe(0)
    const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: { name: string }[] }
    const nombres = components.map(({ name }) => name)
    expect(bomFormat).toBe('CycloneDX')
    expect(nombres).toEqual(expect.arrayContaining(['express', 'pg', 'sharp']))
    for (const ajeno of ['vitest', 'tsdown', '@biomejs/biome', 'fastify']) expect(nombres).not.toContain(ajeno)
  })

  it('of the workflows is pinned by commit', () => {
    for (const archivo of readdirSync(new URL('.github/workflows/', raiz))) {
      const usados = [...leer(`.github/workflows/${archivo}`).matchAll(/uses: *(\S+)/g)].map(([, uso]) => uso!)
      expect(usados.length).toBeGreaterThan(0)
      for (const uso of usados) expect(uso).toMatch(/^[\w./-]+@[0-9a-f]{40}$/)
    }
  })
})
