import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { describe, expect, test, vi } from 'vitest'
import { createSender } from '../../server/domain/webhooks/sending/sender.ts'
import {
  type Address,
  ForbiddenDestination,
  type HostResolver,
  readDestination,
  resolveDestination,
  systemResolver,
} from '../../server/platform/outbound/destination.ts'
import { useDeadlines } from '../deadlines.ts'

const refusal = (text: string, loopback = false): ForbiddenDestination | null => {
  try {
    readDestination(text, { loopback })
    return null
  } catch (error) {
    expect(error).toBeInstanceOf(ForbiddenDestination)
    return error as ForbiddenDestination
  }
}

const direccion = (address: string): Address => ({ address, family: address.includes(':') ? 6 : 4 })
const responds =
  (...direcciones: string[]): HostResolver =>
  async () =>
    direcciones.map(direccion)
const neverResolve: HostResolver = () => {
  throw new Error('it must not ask the DNS')
}
const motivoOf = (url: string, resolver: HostResolver, loopback = false) =>
  resolveDestination(new URL(url), { resolver, loopback }).then(
    (direcciones) => direcciones,
    (error: ForbiddenDestination) => error.motivo,
  )

test('a host is one name, however it is written', () => {
  for (const name of ['recibe.ejemplo.com', 'recibe.ejemplo.com.', 'Recibe.EJEMPLO.com.'])
    expect(readDestination(`https://${name}:8443/a`, { loopback: false }).href).toBe(
      'https://recibe.ejemplo.com:8443/a',
    )
})

describe('admitted addresses', () => {
  test.each([
    ['https://recibe.ejemplo.com'],
    ['https://recibe.ejemplo.com/'],
    ['https://recibe.ejemplo.com/hooks/guias?tienda=7&x=%20'],
    ['HTTPS://Recibe.Ejemplo.COM/Hooks'],
    ['https://recibe.ejemplo.com.'],
    ['https://recibe.ejemplo.com:443/'],
    ['https://recibe.ejemplo.com:8443/'],
    ['https://recibe.ejemplo.com:1024/'],
    ['https://recibe.ejemplo.com:65535/'],
    ['https://recibe.ejemplo.com:/'],
    ['https://xn--andu-hqa.gt/'],
    ['https://ñandú.gt/guía?ñ=é'],
    ['https://a_b.ejemplo.com/'],
    ['https://ejemplo.com.gt/@usuario'],
    ['https://ejemplo.com?a=b@c'],
    ['https://localhost.ejemplo.com/'],
    ['https://mi-local.com/'],
    ['https://prueba.testing/'],
    ['https://onion.ly/'],
    ['https://8.8.8.8/'],
    ['https://8.8.8.8:8443/x'],
    ['https://0x8.8.8.8/'],
    ['https://134744072/'],
    ['https://[2606:4700:4700::1111]/'],
    ['https://[2606:4700:4700::1111]:8443/'],
    ['https://[::ffff:8.8.8.8]/'],
    [`https://ejemplo.com/${'a'.repeat(2048 - 'https://ejemplo.com/'.length)}`],
  ])('%s', (text) => {
    expect(refusal(text)).toBeNull()
    // What was admitted is admitted again in its normal form.
    expect(refusal(readDestination(text, { loopback: false }).href)).toBeNull()
  })
})

describe('badly written addresses', () => {
  test.each([
    ['', 'vacía'],
    ['recibe.ejemplo.com', 'https://'],
    ['//ejemplo.com/', 'https://'],
    ['https:ejemplo.com', 'https://'],
    ['https:/ejemplo.com', 'https://'],
    ['https:///ejemplo.com', 'https://'],
    ['https://', 'https://'],
    ['https://?x', 'https://'],
    ['ftp://ejemplo.com/', 'https://'],
    ['file:///etc/passwd', 'https://'],
    ['javascript:alert(1)', 'https://'],
    ['data:text/plain,x', 'https://'],
    ['gopher://ejemplo.com/', 'https://'],
    ['ws://ejemplo.com/', 'https://'],
    ['unix:/var/run/docker.sock', 'https://'],
    ['http://ejemplo.com/', 'sin cifrar'],
    ['http://8.8.8.8/', 'sin cifrar'],
    ['http://127.0.0.1/', 'sin cifrar'],
    ['http://localhost:3000/', 'sin cifrar'],
    ['la de siempre', 'https://'],
    [' https://ejemplo.com/', 'espacios'],
    ['https://ejemplo.com/ ', 'espacios'],
    ['https://ejemplo.com/a b', 'espacios'],
    ['https://ejemplo.com/a\u00a0b', 'espacios'],
    ['https://ejemplo.com/a\u2028b', 'espacios'],
    ['https://ejem\tplo.com/', 'control'],
    ['https://ejem\nplo.com/', 'control'],
    ['https://ejemplo.com/\r\nHost: otro', 'control'],
    ['https://ejemplo.com/\0', 'control'],
    ['https://ejemplo.com/\u007f', 'control'],
    ['https://ejem\u00adplo.com/', 'invisibles'],
    ['https://ejem\u200bplo.com/', 'invisibles'],
    ['https://ejemplo.com/\u202egpj', 'invisibles'],
    ['\ufeffhttps://ejemplo.com/', 'invisibles'],
    ['https://ejemplo.com/\ud800', 'invisibles'],
    ['https://ejemplo.com\\@127.0.0.1/', 'barra invertida'],
    ['https:\\\\ejemplo.com/', 'barra invertida'],
    ['https://ejemplo.com/a\\b', 'barra invertida'],
    ['https://ana@ejemplo.com/', 'usuario'],
    ['https://ana:clave@ejemplo.com/', 'usuario'],
    ['https://@ejemplo.com/', 'usuario'],
    ['https://:@ejemplo.com/', 'usuario'],
    ['https://ejemplo.com@127.0.0.1/', 'usuario'],
    ['https://ejemplo.com:443@127.0.0.1/', 'usuario'],
    ['https://ana%40ejemplo.com/', 'no es válida'],
    ['https://ana＠ejemplo.com/', 'no es válida'],
    ['https://ejemplo.com/#', 'fragmento'],
    ['https://ejemplo.com/#x', 'fragmento'],
    ['https://ejemplo.com#@127.0.0.1/', 'fragmento'],
    ['https://ejemplo.com:0/', 'puerto 0'],
    ['https://ejemplo.com:22/', 'puerto 22'],
    ['https://ejemplo.com:25/', 'puerto 25'],
    ['https://ejemplo.com:80/', 'puerto 80'],
    ['https://ejemplo.com:444/', 'puerto 444'],
    ['https://ejemplo.com:1023/', 'puerto 1023'],
    ['https://8.8.8.8:53/', 'puerto 53'],
    ['https://ejemplo.com:65536/', 'no es válida'],
    ['https://ejemplo.com:-1/', 'no es válida'],
    ['https://ejemplo.com:4 43/', 'espacios'],
    ['https://ejemplo.com..', 'mal escrito'],
    ['https://.ejemplo.com/', 'mal escrito'],
    ['https://ejemplo..com/', 'mal escrito'],
    ['https://-ejemplo.com/', 'mal escrito'],
    ['https://ejemplo-.com/', 'mal escrito'],
    ['https://ejem*plo.com/', 'mal escrito'],
    ["https://ejem'plo.com/", 'mal escrito'],
    ['https://ejem%00plo.com/', 'no es válida'],
    ['https://ejemplo.com／ruta', 'no es válida'],
    [`https://${'a'.repeat(64)}.com/`, 'mal escrito'],
    [`https://${'abc.'.repeat(63)}com/`, 'mal escrito'],
    [`https://ejemplo.com/${'a'.repeat(2049 - 'https://ejemplo.com/'.length)}`, '2,048'],
    [`https://ejemplo.com/${'ñ'.repeat(1000)}`, '2,048'],
  ])('%j: %s', (text, mensaje) => {
    expect(refusal(text)).toMatchObject({ motivo: 'url_no_permitida', message: expect.stringContaining(mensaje) })
  })
})

describe('names that are nowhere on the Internet', () => {
  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'LocalHost.',
    'app.localhost',
    'a.b.localhost.',
    'impresora.local',
    'IMPRESORA.LOCAL.',
    'metadata.google.internal',
    'Metadata.Google.Internal.',
    'casa.home.arpa',
    'home.arpa',
    'recibe.test',
    'recibe.invalid',
    'expyuzz4wqqyqhjn.onion',
    'intranet',
    'intranet.',
    'kubernetes',
    'com',
    'ｌｏｃａｌｈｏｓｔ',
    'localhost。',
    'l%6fcalhost',
    'ejemplo。local',
  ])('%s', async (name) => {
    expect(refusal(`https://${name}/`)).toMatchObject({
      motivo: 'url_no_permitida',
      message: expect.stringContaining('interno'),
    })
    expect(refusal(`https://${name}:8443/x`)?.motivo).toBe('url_no_permitida')
    expect(await motivoOf(`https://${name}/`, neverResolve)).toBe('url_no_permitida')
  })
})

// Both as they stand in a URL and, in their plain form, as an answer of the DNS.
const NO_PUBLICAS = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.175.48.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::2',
  '::127.0.0.1',
  '::8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '::ffff:0:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b::127.0.0.1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
]

describe('addresses that are not public', () => {
  test.each(NO_PUBLICAS)('%s', async (ip) => {
    const targetHost = ip.includes(':') ? `[${ip}]` : ip
    expect(refusal(`https://${targetHost}/`)).toMatchObject({
      motivo: 'url_no_permitida',
      message: expect.stringContaining('no es pública'),
    })
    expect(await motivoOf(`https://${targetHost}/`, neverResolve)).toBe('url_no_permitida')
    expect(await motivoOf('https://ejemplo.com/', responds(ip))).toBe('url_no_permitida')
  })

  test.each([
    'https://0x7f.1/',
    'https://0x7f000001/',
    'https://0X7F.0.0.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://127.0.1/',
    'https://127.0.0.1./',
    'https://0/',
    'https://00/',
    'https://0x0/',
    'https://3232235521/',
    'https://0xa9fea9fe/',
    'https://2852039166/',
    'https://169.16689662/',
    'https://１２７.０.０.１/',
    'https://127。0。0。1/',
    'https://①②⑦.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[0000::0001]/',
    'https://[::ffff:7f00:1]/',
    'https://[::FFFF:127.0.0.1]/',
    'https://[0:0:0:0:0:ffff:7f00:0001]/',
  ])('however it is written: %s', (text) => {
    expect(refusal(text)).toMatchObject({
      motivo: 'url_no_permitida',
      message: expect.stringContaining('no es pública'),
    })
  })

  test.each([
    'https://[fe80::1%eth0]/',
    'https://[fe80::1%25eth0]/',
    'https://[2606:4700::1%25eth0]/',
    'https://256.1.1.1/',
    'https://1.2.3.4.5/',
    'https://127.0.0.0x/',
    'https://08.8.8.8/',
    'https://4294967296/',
    'https://[::1/',
    'https://[]/',
    'https://::1/',
    'https://[::ffff:1.2.3]/',
  ])('a text that is not an address is refused: %s', (text) => {
    expect(refusal(text)?.motivo).toBe('url_no_permitida')
  })
})

describe('with loopback', () => {
  test.each([
    ['http://127.0.0.1/', true],
    ['http://127.0.0.1:80/', true],
    ['http://127.0.0.1:1/x', true],
    ['http://127.9.9.9:3000/', true],
    ['http://127.1:3000/', true],
    ['http://[::1]:3000/', true],
    ['http://localhost/', true],
    ['http://LOCALHOST.:3000/', true],
    ['https://ejemplo.com/', true],
    ['https://127.0.0.1/', false],
    ['https://localhost:3000/', false],
    ['https://[::1]/', false],
    ['http://ejemplo.com/', false],
    ['http://8.8.8.8/', false],
    ['http://10.0.0.1/', false],
    ['http://0.0.0.0:3000/', false],
    ['http://[::]:3000/', false],
    ['http://169.254.169.254/latest/meta-data/', false],
    ['http://app.localhost/', false],
    ['http://localhost.ejemplo.com/', false],
    ['http://ana@127.0.0.1/', false],
    ['http://127.0.0.1/#x', false],
    ['ftp://127.0.0.1/', false],
  ])('%s: %s', (text, isAdmitted) => {
    expect(refusal(text, true) === null).toBe(isAdmitted)
  })

  test('localhost must be loopback in every answer', async () => {
    const url = 'http://localhost:3000/'
    expect(await motivoOf(url, responds('127.0.0.1', '::1'), true)).toEqual([direccion('127.0.0.1'), direccion('::1')])
    expect(await motivoOf(url, responds('127.0.0.1', '8.8.8.8'), true)).toBe('url_no_permitida')
    expect(await motivoOf(url, responds('10.0.0.1'), true)).toBe('url_no_permitida')
    expect(await motivoOf(url, neverResolve, false)).toBe('url_no_permitida')
  })

  test('https still goes to public addresses only', async () => {
    expect(await motivoOf('https://ejemplo.com/', responds('127.0.0.1'), true)).toBe('url_no_permitida')
  })
})

describe('answers of the DNS', () => {
  const url = 'https://recibe.ejemplo.com/hooks'

  test('public addresses are handed over in their normal form', async () => {
    const response = await motivoOf(url, responds('8.8.8.8', '2606:4700:0::1111', '::ffff:1.1.1.1'))
    expect(response).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
      { address: '1.1.1.1', family: 4 },
    ])
  })

  test('a literal is its own answer', async () => {
    expect(await motivoOf('https://8.8.8.8/', neverResolve)).toEqual([{ address: '8.8.8.8', family: 4 }])
    expect(await motivoOf('https://[2606:4700::1]/', neverResolve)).toEqual([{ address: '2606:4700::1', family: 6 }])
  })

  test('the name is asked for without its final dot', async () => {
    const questions: string[] = []
    const resolver: HostResolver = async (name) => {
      questions.push(name)
      return [direccion('8.8.8.8')]
    }
    await motivoOf('https://Recibe.Ejemplo.com.:8443/', resolver)
    expect(questions).toEqual(['recibe.ejemplo.com'])
  })

  test.each([
    ['one private among public ones', ['8.8.8.8', '10.0.0.1', '1.1.1.1']],
    ['a private one last', ['8.8.8.8', '::1']],
    ['mapped', ['::ffff:192.168.1.1']],
    ['with a zone', ['2606:4700::1%eth0']],
    ['something else', ['ejemplo.com']],
    ['a number', ['0x8.8.8.8']],
  ])('%s is refused, and not told which', async (_case, direcciones) => {
    const error = await resolveDestination(new URL(url), { resolver: responds(...direcciones), loopback: false }).catch(
      (causa: unknown) => causa,
    )
    expect(error).toMatchObject({ motivo: 'url_no_permitida', message: expect.stringContaining('recibe.ejemplo.com') })
    for (const ip of direcciones) expect((error as Error).message).not.toContain(`«${ip}»`)
  })

  test('a name without addresses, a failing DNS and one that throws at once do not resolve', async () => {
    expect(await motivoOf(url, responds())).toBe('url_no_resuelve')
    expect(await motivoOf(url, () => Promise.reject(new Error('ENOTFOUND')))).toBe('url_no_resuelve')
    expect(await motivoOf(url, neverResolve)).toBe('url_no_resuelve')
  })

  test('the system resolves localhost, and knows no invalid name', async () => {
    expect((await systemResolver('localhost')).map(({ address }) => address)).toContain('127.0.0.1')
    await expect(systemResolver('no-existe.invalid')).rejects.toThrow()
  })
})

describe('rebinding', () => {
  /** The deadline of an exchange unless it is told, in ms. */
  const deadlines = useDeadlines(15_000)
  async function trap() {
    let connections = 0
    const server = net
      .createServer((socket) => {
        connections++
        socket.destroy()
      })
      .listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    return { port, cuenta: () => connections, [Symbol.asyncDispose]: async () => void server.close() }
  }
  const solicitud = { canal: 'c', cabeceras: {}, cuerpo: '{}', loopback: false }

  test('public when registered, loopback when sent: 0 connections', async () => {
    await using local = await trap()
    const responses = ['8.8.8.8', '127.0.0.1', '127.0.0.1']
    const resolver: HostResolver = async () => [direccion(responses.shift()!)]
    const url = `https://gira.ejemplo.com:${local.port}/`
    expect(await motivoOf(url, resolver)).toEqual([direccion('8.8.8.8')])
    const sender = createSender({ resolver })
    const response = await sender.send({ ...solicitud, url })
    await sender.close()
    expect(response).toMatchObject({ status: null, error: 'destino_no_permitido', ip: null })
    expect(responses).toHaveLength(1)
    expect(local.cuenta()).toBe(0)
  })

  test('public at first and loopback at the next question: it is asked only once a connection', async () => {
    await using local = await trap()
    let questions = 0
    const resolver: HostResolver = async () => [direccion(++questions === 1 ? '8.8.8.8' : '127.0.0.1')]
    const destinos: unknown[] = []
    // Whatever it does with its name, the socket can learn no address but the one that was checked.
    const connectSocket = vi.spyOn(tls, 'connect').mockImplementation((options) => {
      const { lookup, host } = options as unknown as net.TcpNetConnectOpts
      lookup!(host!, { all: true }, (_error, direcciones) => destinos.push(direcciones))
      return new net.Socket().destroy(new Error('nobody there')) as tls.TLSSocket
    })
    const sender = createSender({ resolver })
    const response = await sender.send({ ...solicitud, url: `https://gira.ejemplo.com:${local.port}/` })
    await sender.close()
    connectSocket.mockRestore()
    expect(response).toMatchObject({ status: null, error: 'conexion' })
    expect(destinos).toEqual([[direccion('8.8.8.8')]])
    expect(questions).toBe(1)
    expect(local.cuenta()).toBe(0)
  })

  test('an answer that comes after the deadline leads nowhere', async () => {
    await using local = await trap()
    const { promise, resolve } = Promise.withResolvers<Address[]>()
    const sender = createSender({ resolver: () => promise })
    const url = `http://localhost:${local.port}/`
    const sendingResult = sender.send({ ...solicitud, url, loopback: true })
    await expect.poll(deadlines.countPending).toBe(1)
    deadlines.expireAll()
    const response = await sendingResult
    expect(response).toMatchObject({ status: null, error: 'tiempo_agotado', ip: null, dns_ms: null })
    expect(response.detalle).toContain('nombre')
    resolve([direccion('127.0.0.1')])
    // Whoever comes afterwards is the first.
    await once(net.connect(local.port, '127.0.0.1').resume(), 'close')
    expect(local.cuenta()).toBe(1)
    await sender.close()
  })
})
