// The jobs that an office does most, each in a browser, by a person with no more scopes than it needs.
import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { evaluateIn } from './inspect.ts'

/** Presses of the tabulator after which a control counts as out of reach. */
const MAX_TABS = 150
/**
 * Expression for the focused element, if a person cannot see that it has the focus. A field for a date is left out: the
 * browser draws its own ring around the button in it.
 */
const HIDDEN_FOCUS = `(() => {
  const focused = document.activeElement
  const { outlineStyle, boxShadow } = getComputedStyle(focused)
  return focused === document.body || focused.type === 'date' || outlineStyle !== 'none' || boxShadow !== 'none' ? '' : focused.outerHTML.slice(0, 200)
})()`

const environment = useEnvironment()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
})

/** Person at a browser, whose clicks and keys are counted. */
class OfficeWorker {
  clickCount = 0
  keystrokes = 0
  readonly pagina: Page
  readonly #hasMouse: boolean
  constructor(page: Page, { hasMouse = true } = {}) {
    this.pagina = page
    this.#hasMouse = hasMouse
  }

  async click(kind: Locator): Promise<void> {
    await (this.#hasMouse ? kind.click() : this.#useByKeyboard(kind))
    this.clickCount++
  }
  /** Moves the focus with the tabulator, and uses what it reaches. Each focus on the way can be seen. */
  async #useByKeyboard(kind: Locator): Promise<void> {
    await kind.waitFor()
    const focused = this.pagina.locator(':focus')
    for (let i = 0; (await kind.and(focused).count()) === 0; i++) {
      if (i > MAX_TABS) throw new Error(`the tabulator does not reach ${kind}`)
      await this.pagina.keyboard.press('Tab')
      expect(await evaluateIn(this.pagina, HIDDEN_FOCUS)).toBe('')
    }
    if (!(await focused.and(this.pagina.locator('input:not([type=checkbox]), select, textarea')).count()))
      await this.pagina.keyboard.press('Enter')
  }
  /** Types into the field that has the focus. */
  async write(text: string): Promise<void> {
    await this.pagina.keyboard.type(text)
    this.keystrokes += text.length
  }
  async keystroke(target: string): Promise<void> {
    await this.pagina.keyboard.press(target)
    this.keystrokes++
  }
  button = (name: string) => this.pagina.getByRole('button', { name, exact: true })
  tableRow = (text: string) =>
    this.pagina
      .getByRole('row', { name: new RegExp(text) })
      .getByRole('link')
      .first()

  async buscar(text: string): Promise<void> {
    await this.click(this.pagina.getByRole('searchbox'))
    await this.write(text)
    await this.keystroke('Enter')
    await this.pagina.waitForURL(/\/central\/guias(?:\?q=|\/)/)
  }
  /** Opens the form of an action on the page of a guide. */
  open = (accion: string) => this.click(this.pagina.locator('summary', { hasText: accion }))
  /** Types at the end of a field of the open form. */
  async fill(field: string, text: string, openPlace = 'details.accion[open]'): Promise<void> {
    await this.click(this.pagina.locator(openPlace).getByLabel(field, { exact: true }))
    await this.pagina.keyboard.press('End')
    await this.write(text)
  }
  ve = (text: string | RegExp) => this.pagina.getByText(text).first().waitFor()
}

/** Job: the scopes that it needs, the address where it begins, and what is done there. */
interface Trabajo {
  alcances: readonly string[]
  openPlace: () => Promise<string>
  perform: (ana: OfficeWorker) => Promise<void>
}

let telefonos = 0
const newTelefono = () => `+502555${String(10_000 + ++telefonos)}`
const RAZON = 'Lo pidió por teléfono'
const create = (datos: object = {}) => comercio.api.guias.crear(buildGuia(datos))
const pageOf = async (guia: Promise<{ guia: string }>) => `/central/guias/${(await guia).guia}`
const start = async () => '/central'

const TRABAJOS: Record<string, Trabajo> = {
  'find by telephone': {
    alcances: ['ver'],
    openPlace: async () => {
      await create({ telefono: '+50255501234', destinatario: 'Wendy Xol' })
      return start()
    },
    perform: async (ana) => {
      await ana.buscar('5550 1234')
      await ana.click(ana.tableRow('Wendy Xol'))
      await ana.ve('5550 1234')
    },
  },
  'find by name': {
    alcances: ['ver'],
    openPlace: async () => {
      await create({ destinatario: 'Jiménez Batres, Ximena' })
      await waitUntil(async () => (await environment.asOperador('GET', '/busqueda?texto=ximena')).body.datos.length > 0)
      return start()
    },
    perform: async (ana) => {
      await ana.buscar('gimenes simena')
      await ana.click(ana.tableRow('Ximena'))
      await ana.ve('Jiménez Batres, Ximena')
    },
  },
  'see why a guide is stuck': {
    alcances: ['ver'],
    openPlace: async () => {
      await createFailedGuia(environment, comercio)
      return start()
    },
    perform: async (ana) => {
      await ana.click(
        ana.pagina
          .getByRole('region', { name: 'Esperan una decisión' })
          .getByRole('row')
          .nth(1)
          .getByRole('link')
          .first(),
      )
      await ana.ve(/Se espera una decisión hasta el/)
    },
  },
  'correct the address': {
    alcances: ['ver', 'operar'],
    openPlace: () => pageOf(create({ direccion: '3a calle 1' })),
    perform: async (ana) => {
      await ana.open('Corregir los datos')
      await ana.fill('Dirección', ', casa 5')
      await ana.fill('Por qué', RAZON)
      await ana.click(ana.button('Corregir los datos'))
      await ana.ve('Los datos quedaron corregidos.')
      await ana.ve('3a calle 1, casa 5')
    },
  },
  'set the place': {
    alcances: ['ver', 'operar'],
    openPlace: () => pageOf(comercio.api.guias.crear(buildGuiaWithoutDestino())),
    perform: async (ana) => {
      await ana.open('Poner el lugar')
      await ana.fill('Coordenadas o enlace de mapa', '14.71889, -90.64417')
      await ana.fill('Por qué', RAZON)
      await ana.click(ana.button('Poner el lugar'))
      await ana.ve('El lugar quedó confirmado.')
    },
  },
  'resend the message': {
    alcances: ['ver', 'operar'],
    // A telephone gets few messages in a row.
    openPlace: () => pageOf(comercio.api.guias.crear(buildGuiaWithoutDestino({ telefono: newTelefono() }))),
    perform: async (ana) => {
      await ana.click(ana.button('Reenviar el mensaje'))
      await ana.ve('El mensaje está por salir.')
    },
  },
  'see the proof': {
    alcances: ['ver'],
    openPlace: async () => {
      const { guia } = await createDeliveredGuia(environment, comercio)
      await waitUntil(async () => (await comercio.api.guias.pruebaEntrega(guia)).pdf)
      return `/central/guias?q=${guia}`
    },
    perform: async (ana) => {
      await ana.ve('María López')
      const [foto] = await Promise.all([
        ana.pagina.waitForEvent('popup'),
        ana.click(ana.pagina.getByRole('link', { name: /Foto de la entrega/ }).first()),
      ])
      expect(foto.url()).toContain('/archivos/')
    },
  },
  'see who carries what': {
    alcances: ['ver'],
    openPlace: async () => {
      const { body: luisa } = await environment.asOperador('POST', '/repartidores', { nombre: 'Luisa Chub' })
      const { guia } = await create({ destinatario: 'Pedro Caal' })
      const step = { estado: 'recolectado', repartidor: luisa.repartidor }
      await environment.asOperador('POST', `/guias/${guia}/eventos`, step)
      return start()
    },
    perform: async (ana) => {
      await ana.click(ana.pagina.getByRole('link', { name: 'Reparto' }))
      await ana.click(ana.pagina.getByRole('link', { name: /Luisa Chub/ }).first())
      await ana.ve('Pedro Caal')
    },
  },
  'create a merchant with an invitation': {
    alcances: ['ver', 'administrar'],
    openPlace: async () => '/central/comercios',
    perform: async (ana) => {
      await ana.click(ana.pagina.getByRole('link', { name: 'Nuevo comercio' }))
      await ana.fill('Nombre', 'Zapatería Uno', 'main')
      await ana.fill('Su correo', 'eva@ejemplo.com', 'main')
      await ana.fill('Su nombre', 'Eva Ruiz', 'main')
      await ana.click(ana.button('Crear el comercio'))
      await ana.ve(/la invitación va en camino/)
    },
  },
  'create a key': {
    alcances: ['ver', 'administrar'],
    openPlace: async () => `/central/comercios/${comercio.comercio}`,
    perform: async (ana) => {
      await ana.open('Crear una llave')
      await ana.click(ana.button('Crear una llave'))
      await ana.ve(/guia_(?:live|test)_/)
    },
  },
  'see failing webhooks and resend': {
    alcances: ['ver', 'operar'],
    openPlace: async () => {
      const webhook = `wh_${newGuideCode()}`
      await environment.db.pool.query(
        `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, fallas, primera_falla_en, creado_en,
           actualizado_en, comprobado_en)
         values ($1, 'live', $2, 'https://' || $2 || '.ejemplo.com/', array['*'], 'pausado', now(), 37, now() - interval '1 day', now(),
           now(), now())`,
        [comercio.id, webhook],
      )
      await create()
      await environment.db.pool.query(
        `update webhook_aviso set estado = 'fallido', ultimo_error = 'dns' where webhook = $1`,
        [webhook],
      )
      return start()
    },
    perform: async (ana) => {
      const failingRegion = ana.pagina.getByRole('region', { name: 'Comercios que no reciben sus avisos' })
      await ana.click(failingRegion.getByRole('row').nth(1).getByRole('link'))
      await ana.click(ana.pagina.getByRole('row').nth(1).getByRole('link').first())
      await ana.open('Enviar otra vez')
      await ana.click(ana.button('Enviar otra vez'))
      await ana.ve('Va a salir otra vez.')
    },
  },
  'undo a wrong state': {
    alcances: ['ver', 'administrar'],
    openPlace: () => pageOf(createDeliveredGuia(environment, comercio)),
    perform: async (ana) => {
      await ana.open('Deshacer el último estado')
      await ana.fill('Por qué fue un error', 'Era del vecino')
      await ana.click(ana.button('Deshacer el último estado'))
      await ana.ve('El último estado se deshizo.')
    },
  },
  cancel: {
    alcances: ['ver', 'operar'],
    openPlace: () => pageOf(create()),
    perform: async (ana) => {
      await ana.open('Cancelar la guía')
      await ana.fill('Por qué', RAZON)
      await ana.click(ana.button('Cancelar la guía'))
      await ana.ve('La guía quedó cancelada.')
    },
  },
  return: {
    alcances: ['ver', 'operar'],
    openPlace: async () => `/central/guias/${await createFailedGuia(environment, comercio)}`,
    perform: async (ana) => {
      await ana.open('Devolver al comercio')
      await ana.fill('Por qué', RAZON)
      await ana.click(ana.button('Devolver al comercio'))
      await ana.ve('Se decidió la devolución.')
    },
  },
  'add a note': {
    alcances: ['ver', 'operar'],
    openPlace: () => pageOf(create()),
    perform: async (ana) => {
      await ana.open('Nota de la central')
      await ana.fill('Nota', 'Pasa el jueves por la bodega')
      await ana.click(ana.button('Nota de la central'))
      await ana.ve('La nota quedó guardada.')
      await ana.ve('Pasa el jueves por la bodega')
    },
  },
  'answer a merchant': {
    alcances: ['ver'],
    openPlace: async () => {
      const { guia } = await create({ external_ref: 'PEDIDO-77-X' })
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
      await waitUntil(
        async () => (await environment.asOperador('GET', '/busqueda?texto=PEDIDO-77-X')).body.datos.length > 0,
      )
      return start()
    },
    perform: async (ana) => {
      await ana.buscar('pedido 77 x')
      await ana.click(ana.tableRow('PEDIDO-77-X'))
      await ana.ve('Recolectado')
    },
  },
}

/** Rows of the table of jobs, by the job's name. */
const documentedCounts = new Map(
  [
    ...readFileSync(new URL('../../docs/paginas.md', import.meta.url), 'utf8').matchAll(
      /^\| ([a-z ]+) \| (\d+) \| (\d+) \| [\d.]+ \|$/gm,
    ),
  ].map(([, name, clickCount, keystrokes]) => [name!, { clics: Number(clickCount), teclas: Number(keystrokes) }]),
)

/** Does a job in a new browser, as a person with exactly its scopes. */
async function doJob(
  { alcances, openPlace, perform }: Trabajo,
  { hasMouse, javaScriptEnabled }: { hasMouse: boolean; javaScriptEnabled: boolean },
  check: (ana: OfficeWorker) => Promise<void>,
): Promise<void> {
  const { cookie } = await createTestPersona(environment, { alcances: [...alcances] })
  const [name = '', value = ''] = cookie.split('=')
  const path = await openPlace()
  const context = await openContext({ viewport: { width: 1280, height: 800 }, javaScriptEnabled })
  try {
    await context.addCookies([{ name, value, url: environment.url }])
    const ana = new OfficeWorker(await context.newPage(), { hasMouse })
    await ana.pagina.goto(environment.url + path, { waitUntil: 'networkidle' })
    await perform(ana)
    await check(ana)
  } finally {
    await context.close()
  }
}

describe.skipIf(!hasBrowser)('a job of the office', () => {
  it.each(Object.entries(TRABAJOS))('«%s» takes the clicks and keys that are written', (nombre, job) =>
    doJob(job, { hasMouse: true, javaScriptEnabled: true }, async ({ clickCount, keystrokes }) =>
      expect({ clics: clickCount, teclas: keystrokes }).toEqual(documentedCounts.get(nombre)),
    ),
  )

  it.each(Object.entries(TRABAJOS))('«%s» is done with the keyboard alone, without a program', (_nombre, job) =>
    doJob(job, { hasMouse: false, javaScriptEnabled: false }, async ({ pagina }) => {
      if (new URL(pagina.url()).searchParams.has('hecho'))
        expect(await pagina.getByRole('status').and(pagina.locator(':focus')).count()).toBe(1)
    }),
  )

  it('stands in the table', () => {
    expect([...documentedCounts.keys()]).toEqual(Object.keys(TRABAJOS))
  })
})
