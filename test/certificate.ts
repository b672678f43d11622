import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

// Self-signed certificates, made on the spot so that no private key lies in the repository.

const der = (etiqueta: number, ...parts: (Buffer | number[])[]): Buffer => {
  const value = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const length = value.length < 128 ? [value.length] : [0x82, value.length >> 8, value.length & 255]
  return Buffer.concat([Buffer.from([etiqueta, ...length]), value])
}
const secuencia = (...parts: Buffer[]) => der(0x30, ...parts)
const CN = [0x55, 0x04, 0x03]
const SAN = [0x55, 0x1d, 0x11]
const ECDSA_SHA256 = secuencia(der(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))

export interface Par {
  key: string
  cert: string
}

/** For these names and addresses. */
export function createCertificate(alternativeNames: Buffer[], years: [string, string] = ['2020', '2099']): Par {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = secuencia(der(0x31, secuencia(der(0x06, CN), der(0x0c, Buffer.from('prueba')))))
  const dates = years.map((year) => der(0x18, Buffer.from(`${year}0101000000Z`)))
  const contenido = secuencia(
    der(0xa0, der(0x02, [2])),
    der(0x02, [1]),
    ECDSA_SHA256,
    name,
    secuencia(...dates),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, secuencia(secuencia(der(0x06, SAN), der(0x04, secuencia(...alternativeNames))))),
  )
  const firma = der(0x03, [0], sign('sha256', contenido, privateKey as KeyObject))
  const cert = secuencia(contenido, ECDSA_SHA256, firma).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  }
}
export const encodeDnsName = (name: string) => der(0x82, Buffer.from(name))
export const encodeIpName = (...octets: number[]) => der(0x87, octets)
