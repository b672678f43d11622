// The jobs that an office does most, each in a browser, by a person with no more scopes than it needs.
import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'

const entorno = useEnvironment()
let comercio: Comercio
beforeAll(async () => {
  comercio = await entorno.nuevoComercio('live')
})

/** Person at a browser, whose clicks and keys are counted. */
class Oficinista {
  clics = 0
  teclas = 0
  readonly pagina: Page
  constructor(pagina: Page) {
    this.pagina = pagina
  }

  async clic(que: Locator): Promise<void> {
    await que.click()
    this.clics++
  }
  /** Types into the field that has the focus. */
  async write(texto: string): Promise<void> {
    await this.pagina.keyboard.type(texto)
    this.teclas += texto.length
  }
  async tecla(cual: string): Promise<void> {
    await this.pagina.keyboard.press(cual)
    this.teclas++
  }
  button = (name: string) => this.pagina.getByRole('button', { name, exact: true })
  fila = (texto: string) => this.pagina.getByRole('row', { name: new RegExp(texto) }).getByRole('link')

  async buscar(texto: string): Promise<void> {
    await this.clic(this.pagina.getByRole('searchbox'))
    await this.write(texto)
    await this.tecla('Enter')
    await this.pagina.waitForURL(/\/central\/guias(?:\?q=|\/)/)
  }
  /** Opens the form of an action on the page of a guide. */
  open = (accion: string) => this.clic(this.pagina.locator('summary', { hasText: accion }))
  /** Types at the end of a field of the open form. */
  async llenar(campo: string, texto: string, en = 'details.accion[open]'): Promise<void> {
    await this.clic(this.pagina.locator(en).getByLabel(campo, { exact: true }))
    await this.pagina.keyboard.press('End')
    await this.write(texto)
  }
  ve = (texto: string | RegExp) => this.pagina.getByText(texto).first().waitFor()
}

/** Job: the scopes that it needs, the address where it begins, and what is done there. */
interface Trabajo {
  alcances: readonly string[]
  en: () => Promise<string>
  perform: (ana: Oficinista) => Promise<void>
}

const RAZON = 'Lo pidió por teléfono'
const crear = (datos: object = {}) => comercio.api.guias.crear(buildGuia(datos))
const paginaDe = async (guia: Promise<{ guia: string }>) => `/central/guias/${(await guia).guia}`
const inicio = async () => '/central'

const TRABAJOS: Record<string, Trabajo> = {
  'find by telephone': {
    alcances: ['ver'],
    en: async () => {
      await crear({ telefono: '+50255501234', destinatario: 'Wendy Xol' })
      return inicio()
    },
    perform: async (ana) => {
      await ana.buscar('5550 1234')
      await ana.clic(ana.fila('Wendy Xol'))
      await ana.ve('5550 1234')
    },
  },
  'find by name': {
    alcances: ['ver'],
    en: async () => {
      await crear({ destinatario: 'Jiménez Batres, Ximena' })
      await hasta(async () => (await entorno.operar('GET', '/busqueda?texto=ximena')).cuerpo.datos.length > 0)
      return inicio()
    },
    perform: async (ana) => {
      await ana.buscar('gimenes simena')
      await ana.clic(ana.fila('Ximena'))
      await ana.ve('Jiménez Batres, Ximena')
    },
  },
  'see why a guide is stuck': {
    alcances: ['ver'],
    en: async () => {
      await createFailedGuia(entorno, comercio)
      return inicio()
    },
    perform: async (ana) => {
      await ana.clic(
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
    en: () => paginaDe(crear({ direccion: '3a calle 1' })),
    perform: async (ana) => {
      await ana.open('Corregir los datos')
      await ana.llenar('Dirección', ', casa 5')
      await ana.llenar('Por qué', RAZON)
      await ana.clic(ana.button('Corregir los datos'))
      await ana.ve('Los datos quedaron corregidos.')
      await ana.ve('3a calle 1, casa 5')
    },
  },
  'set the place': {
    alcances: ['ver', 'operar'],
    en: () => paginaDe(comercio.api.guias.crear(buildGuiaWithoutDestino())),
    perform: async (ana) => {
      await ana.open('Poner el lugar')
      await ana.llenar('Coordenadas o enlace de mapa', '14.71889, -90.64417')
      await ana.llenar('Por qué', RAZON)
      await ana.clic(ana.button('Poner el lugar'))
      await ana.ve('El lugar quedó confirmado.')
    },
  },
  'resend the message': {
    alcances: ['ver', 'operar'],
    en: () => paginaDe(comercio.api.guias.crear(buildGuiaWithoutDestino())),
    perform: async (ana) => {
      await ana.clic(ana.button('Reenviar el mensaje'))
      await ana.ve('El mensaje está por salir.')
    },
  },
  'see the proof': {
    alcances: ['ver'],
    en: async () => {
      const { guia } = await createDeliveredGuia(entorno, comercio)
      await hasta(async () => (await comercio.api.guias.pruebaEntrega(guia)).pdf)
      return `/central/guias?q=${guia}`
    },
    perform: async (ana) => {
      await ana.ve('María López')
      const [foto] = await Promise.all([
        ana.pagina.waitForEvent('popup'),
        ana.clic(ana.pagina.getByRole('link', { name: /Foto de la entrega/ }).first()),
      ])
      expect(foto.url()).toContain('/archivos/')
    },
  },
  'see who carries what': {
    alcances: ['ver'],
    en: async () => {
      const { cuerpo: luisa } = await entorno.operar('POST', '/repartidores', { nombre: 'Luisa Chub' })
      const { guia } = await crear({ destinatario: 'Pedro Caal' })
      const paso = { estado: 'recolectado', repartidor: luisa.repartidor }
      await entorno.operar('POST', `/guias/${guia}/eventos`, paso)
      return inicio()
    },
    perform: async (ana) => {
      await ana.clic(ana.pagina.getByRole('link', { name: 'Reparto' }))
      await ana.clic(ana.pagina.getByRole('link', { name: /Luisa Chub/ }).first())
      await ana.ve('Pedro Caal')
    },
  },
  'create a merchant with an invitation': {
    alcances: ['ver', 'administrar'],
    en: async () => '/central/comercios',
    perform: async (ana) => {
      await ana.clic(ana.pagina.getByRole('link', { name: 'Nuevo comercio' }))
      await ana.llenar('Nombre', 'Zapatería Uno', 'main')
      await ana.llenar('Su correo', 'eva@ejemplo.com', 'main')
      await ana.llenar('Su nombre', 'Eva Ruiz', 'main')
      await ana.clic(ana.button('Crear el comercio'))
      await ana.ve(/la invitación va en camino/)
    },
  },
  'create a key': {
    alcances: ['ver', 'administrar'],
    en: async () => `/central/comercios/${comercio.comercio}`,
    perform: async (ana) => {
      await ana.open('Crear una llave')
      await ana.clic(ana.button('Crear una llave'))
      await ana.ve(/guia_(?:live|test)_/)
    },
  },
  'see failing webhooks and resend': {
    alcances: ['ver', 'operar'],
    en: async () => {
      const webhook = 'wh_7K3M9QX2A1B4'
      await entorno.db.pool.query(
        `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, fallas, primera_falla_en, creado_en,
           actualizado_en, comprobado_en)
         values ($1, 'live', $2, 'https://nadie.ejemplo.com/', array['*'], 'pausado', now(), 37, now() - interval '1 day', now(),
           now(), now())`,
        [comercio.id, webhook],
      )
      await crear()
      await entorno.db.pool.query(
        `update webhook_aviso set estado = 'fallido', ultimo_error = 'dns' where webhook = $1`,
        [webhook],
      )
      return inicio()
    },
    perform: async (ana) => {
      const fallan = ana.pagina.getByRole('region', { name: 'Comercios que no reciben sus avisos' })
      await ana.clic(fallan.getByRole('row').nth(1).getByRole('link'))
      await ana.clic(ana.pagina.getByRole('row').nth(1).getByRole('link').first())
      await ana.open('Enviar otra vez')
      await ana.clic(ana.button('Enviar otra vez'))
      await ana.ve('Va a salir otra vez.')
    },
  },
  'undo a wrong state': {
    alcances: ['ver', 'administrar'],
    en: () => paginaDe(createDeliveredGuia(entorno, comercio)),
    perform: async (ana) => {
      await ana.open('Deshacer el último estado')
      await ana.llenar('Por qué fue un error', 'Era del vecino')
      await ana.clic(ana.button('Deshacer el último estado'))
      await ana.ve('El último estado se deshizo.')
    },
  },
  cancel: {
    alcances: ['ver', 'operar'],
    en: () => paginaDe(crear()),
    perform: async (ana) => {
      await ana.open('Cancelar la guía')
      await ana.llenar('Por qué', RAZON)
      await ana.clic(ana.button('Cancelar la guía'))
      await ana.ve('La guía quedó cancelada.')
    },
  },
  return: {
    alcances: ['ver', 'operar'],
    en: async () => `/central/guias/${await createFailedGuia(entorno, comercio)}`,
    perform: async (ana) => {
      await ana.open('Devolver al comercio')
      await ana.llenar('Por qué', RAZON)
      await ana.clic(ana.button('Devolver al comercio'))
      await ana.ve('Se decidió la devolución.')
    },
  },
  'add a note': {
    alcances: ['ver', 'operar'],
    en: () => paginaDe(crear()),
    perform: async (ana) => {
      await ana.open('Nota de la central')
      await ana.llenar('Nota', 'Pasa el jueves por la bodega')
      await ana.clic(ana.button('Nota de la central'))
      await ana.ve('La nota quedó guardada.')
      await ana.ve('Pasa el jueves por la bodega')
    },
  },
  'answer a merchant': {
    alcances: ['ver'],
    en: async () => {
      const { guia } = await crear({ external_ref: 'PEDIDO-77-X' })
      await entorno.operar('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
      await hasta(async () => (await entorno.operar('GET', '/busqueda?texto=PEDIDO-77-X')).cuerpo.datos.length > 0)
      return inicio()
    },
    perform: async (ana) => {
      await ana.buscar('pedido 77 x')
      await ana.clic(ana.fila('PEDIDO-77-X'))
      await ana.ve('Recolectado')
    },
  },
}

/** Rows of the table of jobs, by the job's name. */
const escritas = new Map(
  [
    ...readFileSync(new URL('../../docs/paginas.md', import.meta.url), 'utf8').matchAll(
      /^\| ([a-z ]+) \| (\d+) \| (\d+) \| [\d.]+ \|$/gm,
    ),
  ].map(([, nombre, clics, teclas]) => [nombre!, { clics: Number(clics), teclas: Number(teclas) }]),
)

describe.skipIf(!hasBrowser)('a job of the office', () => {
  it.each(Object.entries(TRABAJOS))('«%s» takes the clicks and keys that are written', async (nombre, trabajo) => {
    const [name = '', value = ''] = (
      await createTestPersona(entorno, { alcances: [...trabajo.alcances] })
    ).cookie.split('=')
    const en = await trabajo.en()
    const contexto = await openContext({ viewport: { width: 1280, height: 800 } })
    try {
      await contexto.addCookies([{ name, value, url: entorno.url }])
      const ana = new Oficinista(await contexto.newPage())
      await ana.pagina.goto(entorno.url + en, { waitUntil: 'networkidle' })
      await trabajo.perform(ana)
      expect({ clics: ana.clics, teclas: ana.teclas }).toEqual(escritas.get(nombre))
    } finally {
      await contexto.close()
    }
  })

  it('stands in the table', () => {
    expect([...escritas.keys()]).toEqual(Object.keys(TRABAJOS))
  })
})
