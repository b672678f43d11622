import { expect } from 'vitest'
import type { TestEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia } from '../factories.ts'

/** Guides whose delivery fails, and what their merchants read of them. */
export function useIntentos(environment: TestEnvironment) {
  async function createGuia(
    givenComercio?: Awaited<ReturnType<TestEnvironment['createComercio']>>,
    ...estados: string[]
  ) {
    const comercio = givenComercio ?? (await environment.createComercio())
    const { api } = comercio
    const { guia } = await api.guias.crear(buildGuia({ destinatario: 'Ana Pérez' }))
    const registrar = async (body: object) => {
      const { status, body: evento } = await environment.asOperador('POST', `/guias/${guia}/eventos`, body)
      expect([body, status]).toEqual([body, 201])
      return evento
    }
    const scan = async (...scannedEstados: string[]) => {
      for (const estado of scannedEstados) await registrar(buildEstadoReport(estado))
    }
    const read = () => api.guias.obtener(guia, { limite: 100 })
    const tipos = async () => (await read()).eventos.datos.map(({ tipo }) => tipo.replace('guia.', ''))
    await scan(...estados)
    return { comercio, api, guia, registrar, scan, read, tipos }
  }

  /** A guide after a failed attempt. */
  const createGuiaWithIntento = (comercio?: Awaited<ReturnType<TestEnvironment['createComercio']>>) =>
    createGuia(comercio, 'recolectado', 'en_ruta', 'intento_fallido')

  return { createGuia, createGuiaWithIntento }
}
