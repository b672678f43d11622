/** Function that sends a request to the operator's API, and returns the body of the answer. */
export type OperatorApi = (method: string, path: string, body?: object) => Promise<unknown>

/**
 * Creates the function for one service.
 * @param url address of the service, without a final slash
 * @param llave key of the operator
 */
export const createOperatorApi =
  (url: string, llave: string): OperatorApi =>
  async (method, path, body) => {
    const response = await fetch(`${url}/operaciones/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return response.json()
  }
