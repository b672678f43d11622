/** Problem with which the service refuses a call of the SDK, as far as tests read it. */
interface CallProblema {
  codigo: string
  estadoHttp: number
  transiciones?: string[]
  estado?: string
  errores: { campo: string }[]
}

/** Returns the problem of a refused call. Fails if the call succeeds. */
export const catchProblema = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => {
      throw new Error('it was accepted')
    },
    (error: CallProblema) => error,
  )
