import type { Falla, Problema } from '@guias/sdk'

/** Error that carries the problem with which an operation answers. */
export class Refusal extends Error {
  readonly problema: Problema

  constructor(estado_http: number, codigo: string, mensaje: string, extraMembers: Partial<Problema> = {}) {
    super(mensaje)
    this.problema = {
      codigo: codigo as Problema['codigo'],
      titulo: mensaje,
      mensaje,
      estado_http,
      errores: [],
      id_solicitud: 'pruebas',
      documentacion: null as never,
      ...extraMembers,
    }
  }
}

export const notFound = (codigo: string, mensaje: string) => new Refusal(404, codigo, mensaje)

export const invalidFields = (errores: Falla[]) =>
  new Refusal(422, 'validacion', `Corrija ${errores.map(({ campo }) => campo.slice(1)).join(', ')}.`, { errores })
