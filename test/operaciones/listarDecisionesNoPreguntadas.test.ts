import { describe, expect, it } from 'vitest'
import { useQuestions } from '../decisiones/questions.ts'
import { useEnvironment } from '../environment.ts'

const environment = useEnvironment()
const { createAskedGuia, createComercio } = useQuestions(environment)
const list = async (query = '?modo=test') =>
  (await environment.asOperador('GET', `/decisiones/no-preguntadas${query}`)).body
const codes = async () => (await list()).datos.map(({ guia }: { guia: string }) => guia)
const setMessage = (guia: string, estado: string, motivo: string | null = null) =>
  environment.db.pool.query(
    `update mensaje set estado = $2, motivo = $3 where guia = $1 and tipo = 'solicitud_decision'`,
    [guia, estado, motivo],
  )

describe('GET /operaciones/v1/decisiones/no-preguntadas', () => {
  it('lists open decisions whose message did not leave, with the reason, newest first', async () => {
    const comercio = await createComercio()
    const [failed, doubtful, asked] = [
      await createAskedGuia(comercio),
      await createAskedGuia(comercio),
      await createAskedGuia(comercio),
    ]
    expect(await list()).toEqual({ datos: [], hay_mas: false })
    await setMessage(failed.guia, 'fallido', 'El número no tiene WhatsApp')
    await setMessage(doubtful.guia, 'dudoso')
    const { datos } = await list()
    expect(datos).toMatchObject([
      { guia: doubtful.guia, pregunta: { estado: 'dudoso', motivo: null } },
      {
        guia: failed.guia,
        comercio: comercio.comercio,
        estado: 'intento_fallido',
        decision: { estado: 'pendiente' },
        pregunta: { estado: 'fallido', motivo: 'El número no tiene WhatsApp', creado_en: expect.any(String) },
      },
    ])
    expect(await codes()).not.toContain(asked.guia)
    expect((await list('')).datos).toEqual([])
    await environment.asOperador('POST', `/guias/${failed.guia}/reintentar`, { razon: 'Llamó' })
    expect(await codes()).toEqual([doubtful.guia])
  })

  it('leaves out a message about an earlier decision', async () => {
    const comercio = await createComercio()
    const { guia } = await createAskedGuia(comercio)
    await setMessage(guia, 'fallido')
    expect(await codes()).toContain(guia)
    await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
      politica_de_intentos: { destinatario_decide: false },
    })
    for (const step of [{ estado: 'en_ruta' }, { estado: 'intento_fallido', motivo: 'destinatario_ausente' }])
      expect((await environment.asOperador('POST', `/guias/${guia}/eventos`, step)).status).toBe(201)
    expect(await codes()).not.toContain(guia)
  })
})
