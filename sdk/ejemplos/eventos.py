"""Sigue todos los eventos, desde el cursor que guardó la última vez. Ejecútelo cada minuto, por ejemplo.

GUIAS_URL=… GUIAS_LLAVE=… python3 eventos.py
"""
import json
import os
import urllib.parse
import urllib.request

GUARDADO = 'cursor.txt'

cursor = open(GUARDADO).read() if os.path.exists(GUARDADO) else ''
while True:
    consulta = urllib.parse.urlencode({'limite': 100, **({'cursor': cursor} if cursor else {})})
    solicitud = urllib.request.Request(
        f"{os.environ['GUIAS_URL']}/api/v1/eventos?{consulta}",
        headers={'Authorization': 'Bearer ' + os.environ['GUIAS_LLAVE']},
    )
    with urllib.request.urlopen(solicitud, timeout=30) as respuesta:
        pagina = json.load(respuesta)
    for evento in pagina['datos']:
        print(evento['guia'], evento['tipo'])
    if not pagina['datos']:
        break
    # Después de atender los eventos: si el programa se cae antes, los recibe otra vez.
    cursor = pagina['cursor_siguiente']
    with open(GUARDADO, 'w') as archivo:
        archivo.write(cursor)
