/**
 * Table of a country with the facts that GeoNames lacks, written by hand: the department of each admin1 code, and the
 * municipalities.
 *
 * A department: `admin1 | ISO 3166-2 | name | a city in the department, its capital (and centre) | other names`. With
 * `*` before the city, the centre is the mean of the department's towns, weighted by population, because its capital
 * lies elsewhere.
 *
 * A municipality: `name`, then in any order
 *  - `=seat`: GeoNames' name of its seat, if it differs from `name` (also a name that people may write);
 *    `=13:seat` looks in another admin1, where GeoNames has the seat by mistake;
 *  - `~other`: another name that people write;
 *  - `@lat,lng`: an approximate centre, entered by hand because GeoNames has no place.
 */
export interface CountryTable {
  pais: string
  /** Bounding box of the country: south, north, west, east, in degrees. */
  caja: readonly [number, number, number, number]
  departamentos: string
  /** Municipalities by ISO code of the department. Departments that are not listed have those of GeoNames. */
  municipios?: Readonly<Record<string, string>>
  /**
   * Replaces names of GeoNames that people do not write: `ISO: GeoNames' name = name ~other`. Nothing after `=` removes
   * the place.
   */
  correcciones?: string
  /**
   * Minimum population of a town that counts as a municipality without being a seat in GeoNames. Default: 0, which
   * accepts all towns.
   */
  desde?: number
}

const GT: CountryTable = {
  pais: 'GT',
  caja: [13.7, 17.9, -92.3, -88.2],
  departamentos: `
    07 | GT-GU | Guatemala | Guatemala City | GT-01
    05 | GT-PR | El Progreso | Guastatoya | GT-02
    16 | GT-SA | Sacatepéquez | Antigua Guatemala | GT-03
    03 | GT-CM | Chimaltenango | Chimaltenango | GT-04
    06 | GT-ES | Escuintla | Escuintla | GT-05
    18 | GT-SR | Santa Rosa | Cuilapa | GT-06
    19 | GT-SO | Sololá | Sololá | GT-07
    21 | GT-TO | Totonicapán | Totonicapán | GT-08, Toto
    13 | GT-QZ | Quetzaltenango | Quetzaltenango | GT-09, Xela
    20 | GT-SU | Suchitepéquez | Mazatenango | GT-10, Such
    15 | GT-RE | Retalhuleu | Retalhuleu | GT-11, Reu
    17 | GT-SM | San Marcos | San Marcos | GT-12
    08 | GT-HU | Huehuetenango | Huehuetenango | GT-13, Huehue
    14 | GT-QC | Quiché | Santa Cruz del Quiché | GT-14
    02 | GT-BV | Baja Verapaz | Salamá | GT-15
    01 | GT-AV | Alta Verapaz | Cobán | GT-16
    12 | GT-PE | Petén | Flores | GT-17
    09 | GT-IZ | Izabal | Puerto Barrios | GT-18
    22 | GT-ZA | Zacapa | Zacapa | GT-19
    04 | GT-CQ | Chiquimula | Chiquimula | GT-20
    10 | GT-JA | Jalapa | Jalapa | GT-21
    11 | GT-JU | Jutiapa | Jutiapa | GT-22`,
  // The order is that of INE's codes: Guatemala's first municipality is 0101, its second 0102, and so on.
  municipios: {
    'GT-GU': `Guatemala =Guatemala City ~Ciudad de Guatemala ~Nueva Guatemala de la Asunción; Santa Catarina Pinula;
      San José Pinula; San José del Golfo; Palencia; Chinautla; San Pedro Ayampuc; Mixco; San Pedro Sacatepéquez;
      San Juan Sacatepéquez; San Raymundo =San Raimundo; Chuarrancho; Fraijanes; Amatitlán; Villa Nueva; Villa Canales;
      San Miguel Petapa =Petapa`,
    'GT-PR': `Guastatoya ~El Progreso; Morazán; San Agustín Acasaguastlán; San Cristóbal Acasaguastlán; El Jícaro;
      Sansare; Sanarate; San Antonio La Paz`,
    'GT-SA': `Antigua Guatemala ~La Antigua ~Antigua; Jocotenango; Pastores; Sumpango; Santo Domingo Xenacoj;
      Santiago Sacatepéquez; San Bartolomé Milpas Altas; San Lucas Sacatepéquez; Santa Lucía Milpas Altas;
      Magdalena Milpas Altas; Santa María de Jesús; Ciudad Vieja; San Miguel Dueñas; San Juan Alotenango =Alotenango;
      San Antonio Aguas Calientes; Santa Catarina Barahona`,
    'GT-CM': `Chimaltenango; San José Poaquil; San Martín Jilotepeque; San Juan Comalapa =Comalapa; Santa Apolonia;
      Tecpán Guatemala ~Tecpán; Patzún; San Miguel Pochuta =Pochuta; Patzicía; Santa Cruz Balanyá; Acatenango;
      San Pedro Yepocapa =Yepocapa; San Andrés Itzapa; Parramos; Zaragoza; El Tejar`,
    'GT-ES': `Escuintla; Santa Lucía Cotzumalguapa; La Democracia; Siquinalá; Masagua; Tiquisate; La Gomera; Guanagazapa;
      San José =Puerto San José; Iztapa ~Puerto de Iztapa; Palín; San Vicente Pacaya; Nueva Concepción;
      Sipacate @13.93,-91.15`,
    'GT-SR': `Cuilapa ~Cuajiniquilapa; Barberena; Santa Rosa de Lima; Casillas; San Rafael Las Flores; Oratorio;
      San Juan Tecuaco; Chiquimulilla; Taxisco; Santa María Ixhuatán; Guazacapán; Santa Cruz Naranjo;
      Pueblo Nuevo Viñas; Nueva Santa Rosa`,
    'GT-SO': `Sololá; San José Chacayá; Santa María Visitación; Santa Lucía Utatlán; Nahualá; Santa Catarina Ixtahuacán;
      Santa Clara La Laguna; Concepción; San Andrés Semetabaj; Panajachel ~Pana; Santa Catarina Palopó;
      San Antonio Palopó; San Lucas Tolimán; Santa Cruz La Laguna; San Pablo La Laguna; San Marcos La Laguna;
      San Juan La Laguna; San Pedro La Laguna; Santiago Atitlán`,
    'GT-TO': `Totonicapán ~Toto; San Cristóbal Totonicapán; San Francisco El Alto; San Andrés Xecul; Momostenango;
      Santa María Chiquimula; Santa Lucía La Reforma; San Bartolo Aguas Calientes =San Bartolo`,
    'GT-QZ': `Quetzaltenango ~Xela ~Xelajú; Salcajá; Olintepeque ~San Juan Olintepeque; San Carlos Sija; Sibilia; Cabricán;
      Cajolá; San Miguel Sigüilá; San Juan Ostuncalco =Ostuncalco; San Mateo; Concepción Chiquirichapa;
      San Martín Sacatepéquez ~San Martín Chile Verde; Almolonga; Cantel; Huitán; Zunil;
      Colomba ~Colomba Costa Cuca; San Francisco La Unión; El Palmar; Coatepeque; Génova ~Génova Costa Cuca;
      Flores Costa Cuca; La Esperanza; Palestina de Los Altos`,
    'GT-SU': `Mazatenango ~Mazate; Cuyotenango; San Francisco Zapotitlán; San Bernardino; San José El Ídolo;
      Santo Domingo Suchitepéquez; San Lorenzo; Samayac =13:Samayac; San Pablo Jocopilas; San Antonio Suchitepéquez;
      San Miguel Panán; San Gabriel; Chicacao; Patulul; Santa Bárbara; San Juan Bautista; Santo Tomás La Unión;
      Zunilito; Pueblo Nuevo; Río Bravo; San José La Máquina =La Máquina`,
    'GT-RE': `Retalhuleu ~Reu; San Sebastián; Santa Cruz Muluá; San Martín Zapotitlán; San Felipe;
      San Andrés Villa Seca; Champerico; Nuevo San Carlos; El Asintal`,
    'GT-SM': `San Marcos; San Pedro Sacatepéquez; San Antonio Sacatepéquez; Comitancillo; San Miguel Ixtahuacán;
      Concepción Tutuapa; Tacaná; Sibinal; Tajumulco; Tejutla; San Rafael Pie de la Cuesta; Nuevo Progreso;
      El Tumbador; El Rodeo ~San José El Rodeo; Malacatán; Catarina; Ayutla =Ciudad Tecún Umán ~Tecún Umán; Ocós;
      San Pablo; El Quetzal; La Reforma; Pajapita; Ixchiguán; San José Ojetenam =San José Ojetenán;
      San Cristóbal Cucho; Sipacapa; Esquipulas Palo Gordo; Río Blanco; San Lorenzo; La Blanca`,
    'GT-HU': `Huehuetenango ~Huehue; Chiantla; Malacatancito; Cuilco; Nentón; San Pedro Necta; Jacaltenango;
      San Pedro Soloma =Soloma; San Ildefonso Ixtahuacán =Ixtahuacán; Santa Bárbara; La Libertad; La Democracia;
      San Miguel Acatán; San Rafael La Independencia; Todos Santos Cuchumatán ~Todos Santos; San Juan Atitán;
      Santa Eulalia; San Mateo Ixtatán; Colotenango; San Sebastián Huehuetenango; Tectitán; Concepción Huista;
      San Juan Ixcoy; San Antonio Huista; San Sebastián Coatán; Santa Cruz Barillas =Barillas; Aguacatán;
      San Rafael Pétzal; San Gaspar Ixchil; Santiago Chimaltenango; Santa Ana Huista; Unión Cantinil =Unión;
      Petatán @15.62,-91.66`,
    'GT-QC': `Santa Cruz del Quiché ~Quiché ~Santa Cruz; Chiché; Chinique; Zacualpa; Chajul ~San Gaspar Chajul;
      Chichicastenango ~Santo Tomás Chichicastenango ~Chichi; Patzité; San Antonio Ilotenango;
      San Pedro Jocopilas; Cunén; San Juan Cotzal; Joyabaj; Nebaj ~Santa María Nebaj;
      San Andrés Sajcabajá; Uspantán ~San Miguel Uspantán; Sacapulas; San Bartolomé Jocotenango; Canillá; Chicamán;
      Ixcán =Playa Grande ~Ixcán Playa Grande ~Playa Grande Ixcán; Pachalum`,
    'GT-BV': `Salamá; San Miguel Chicaj; Rabinal; Cubulco; Granados; Santa Cruz El Chol =El Chol; San Jerónimo; Purulhá`,
    'GT-AV': `Cobán; Santa Cruz Verapaz; San Cristóbal Verapaz; Tactic; Tamahú; Tucurú ~San Miguel Tucurú; Panzós; Senahú;
      San Pedro Carchá ~Carchá; San Juan Chamelco ~Chamelco; Lanquín; Santa María Cahabón =Cahabón; Chisec;
      Chahal =Chahal Guatemala ~San Fernando Chahal; Fray Bartolomé de las Casas;
      Santa Catalina La Tinta =La Tinta; Raxruhá`,
    'GT-PE': `Flores; San José; San Benito; San Andrés; La Libertad; San Francisco; Santa Ana; Dolores; San Luis; Sayaxché;
      Melchor de Mencos; Poptún; Las Cruces @16.64,-90.29; El Chal`,
    'GT-IZ': `Puerto Barrios; Livingston; El Estor; Morales; Los Amates`,
    'GT-ZA': `Zacapa; Estanzuela; Río Hondo; Gualán; Teculután; Usumatlán; Cabañas; San Diego; La Unión; Huité; San Jorge`,
    'GT-CQ': `Chiquimula; San José La Arada; San Juan Ermita; Jocotán; Camotán; Olopa; Esquipulas; Concepción Las Minas;
      Quezaltepeque; San Jacinto; Ipala`,
    'GT-JA': `Jalapa; San Pedro Pinula; San Luis Jilotepeque; San Manuel Chaparrón; San Carlos Alzatate; Monjas;
      Mataquescuintla`,
    'GT-JU': `Jutiapa; El Progreso ~El Progreso Achuapa; Santa Catarina Mita; Agua Blanca; Asunción Mita; Yupiltepeque; Atescatempa; Jerez;
      El Adelanto; Zapotitlán; Comapa; Jalpatagua; Conguaco; Moyuta; Pasaco; San José Acatempa; Quesada`,
  },
}

// El Salvador's 262 municipalities before the reform of 2024. Addresses still use them, although they are districts
// now.
const SV: CountryTable = {
  pais: 'SV',
  caja: [13.1, 14.5, -90.2, -87.6],
  departamentos: `
    01 | SV-AH | Ahuachapán | Ahuachapán |
    11 | SV-SA | Santa Ana | Santa Ana |
    13 | SV-SO | Sonsonate | Sonsonate |
    03 | SV-CH | Chalatenango | Chalatenango |
    05 | SV-LI | La Libertad | Santa Tecla |
    10 | SV-SS | San Salvador | San Salvador |
    04 | SV-CU | Cuscatlán | Cojutepeque |
    06 | SV-PA | La Paz | Zacatecoluca |
    02 | SV-CA | Cabañas | Sensuntepeque |
    12 | SV-SV | San Vicente | San Vicente |
    14 | SV-US | Usulután | Usulután |
    09 | SV-SM | San Miguel | San Miguel |
    08 | SV-MO | Morazán | San Francisco |
    07 | SV-UN | La Unión | La Unión |`,
  municipios: {
    'SV-AH': `Ahuachapán; Apaneca; Atiquizaya; Concepción de Ataco ~Ataco; El Refugio; Guaymango; Jujutla;
      San Francisco Menéndez; San Lorenzo; San Pedro Puxtla; Tacuba; Turín`,
    'SV-SA': `Candelaria de la Frontera; Chalchuapa; Coatepeque; El Congo; El Porvenir; Masahuat; Metapán;
      San Antonio Pajonal; San Sebastián Salitrillo; Santa Ana; Santa Rosa Guachipilín; Santiago de la Frontera;
      Texistepeque`,
    'SV-SO': `Acajutla; Armenia; Caluco; Cuisnahuat; Izalco; Juayúa; Nahuizalco; Nahulingo; Salcoatitán;
      San Antonio del Monte; San Julián; Santa Catarina Masahuat; Santa Isabel Ishuatán; Santo Domingo de Guzmán;
      Sonsonate; Sonzacate`,
    'SV-CH': `Agua Caliente; Arcatao; Azacualpa; Chalatenango; Comalapa; Citalá; Concepción Quezaltepeque;
      Dulce Nombre de María; El Carrizal; El Paraíso; La Laguna; La Palma; La Reina; San José Las Flores ~Las Flores;
      Las Vueltas; Nombre de Jesús; Nueva Concepción; Nueva Trinidad; Ojos de Agua; Potonico; San Antonio de la Cruz;
      San Antonio Los Ranchos; San Fernando; San Francisco Lempa; San Francisco Morazán; San Ignacio;
      San Isidro Labrador; San José Cancasque ~Cancasque; San Luis del Carmen; San Miguel de Mercedes; San Rafael;
      Santa Rita; Tejutla`,
    'SV-LI': `Antiguo Cuscatlán; Chiltiupán; Ciudad Arce; Colón ~Lourdes Colón ~Lourdes; Comasagua; Huizúcar; Jayaque;
      Jicalapa; La Libertad ~Puerto de La Libertad; Nuevo Cuscatlán; Quezaltepeque; Sacacoyo; San José Villanueva;
      San Juan Opico ~Opico; San Matías; San Pablo Tacachico; Santa Tecla ~Nueva San Salvador; Tamanique; Talnique;
      Teotepeque; Tepecoyo; Zaragoza`,
    'SV-SS': `Aguilares; Apopa; Ayutuxtepeque; Cuscatancingo; Ciudad Delgado =Delgado; El Paisnal; Guazapa; Ilopango;
      Mejicanos; Nejapa; Panchimalco; Rosario de Mora; San Marcos; San Martín @13.74,-89.06; San Salvador;
      Santiago Texacuangos; Santo Tomás; Soyapango; Tonacatepeque`,
    'SV-CU': `Candelaria; Cojutepeque; El Carmen; El Rosario; Monte San Juan; Oratorio de Concepción;
      San Bartolomé Perulapía; San Cristóbal; San José Guayabal; San Pedro Perulapán; San Rafael Cedros; San Ramón;
      Santa Cruz Analquito; Santa Cruz Michapa; Suchitoto; Tenancingo`,
    'SV-PA': `Cuyultitán; El Rosario ~El Rosario de La Paz; Jerusalén; Mercedes La Ceiba; Olocuilta; Paraíso de Osorio;
      San Antonio Masahuat; San Emigdio; San Francisco Chinameca; San Juan Nonualco; San Juan Talpa;
      San Juan Tepezontes; San Luis La Herradura; San Luis Talpa; San Miguel Tepezontes; San Pedro Masahuat;
      San Pedro Nonualco; San Rafael Obrajuelo; Santa María Ostuma; Santiago Nonualco; Tapalhuaca; Zacatecoluca`,
    'SV-CA': `Cinquera; Dolores; Guacotecti; Ilobasco; Jutiapa; San Isidro; Sensuntepeque; Tejutepeque; Victoria`,
    'SV-SV': `Apastepeque; Guadalupe; San Cayetano Istepeque; San Esteban Catarina; San Ildefonso; San Lorenzo;
      San Sebastián; San Vicente; Santa Clara; Santo Domingo; Tecoluca; Tepetitán; Verapaz`,
    'SV-US': `Alegría; Berlín; California; Concepción Batres; El Triunfo; Ereguayquín; Estanzuelas; Jiquilisco; Jucuapa;
      Jucuarán; Mercedes Umaña; Nueva Granada; Ozatlán; Puerto El Triunfo; San Agustín; San Buenaventura;
      San Dionisio; San Francisco Javier; Santa Elena; Santa María; Santiago de María; Tecapán; Usulután`,
    'SV-SM': `Carolina; Chapeltique; Chinameca; Chirilagua; Ciudad Barrios; Comacarán; El Tránsito; Lolotique; Moncagua;
      Nueva Guadalupe; Nuevo Edén de San Juan; Quelepa; San Antonio ~San Antonio del Mosco; San Gerardo; San Jorge;
      San Luis de la Reina; San Miguel; San Rafael Oriente; Sesori; Uluazapa`,
    'SV-MO': `Arambala; Cacaopera; Chilanga; Corinto; Delicias de Concepción; El Divisadero; El Rosario; Gualococti;
      Guatajiagua; Joateca; Jocoaitique; Jocoro; Lolotiquillo; Meanguera; Osicala; Perquín; San Carlos; San Fernando;
      San Francisco Gotera =San Francisco ~Gotera; San Isidro; San Simón; Sensembra; Sociedad; Torola; Yamabal;
      Yoloaiquín`,
    'SV-UN': `Anamorós; Bolívar; Concepción de Oriente; Conchagua; El Carmen; El Sauce; Intipucá; La Unión; Lislique;
      Meanguera del Golfo; Nueva Esparta; Pasaquina; Polorós; San Alejo; San José ~San José La Fuente;
      Santa Rosa de Lima; Yayantique; Yucuaiquín`,
  },
}

const HN: CountryTable = {
  pais: 'HN',
  caja: [12.9, 17.5, -89.4, -83.1],
  departamentos: `
    01 | HN-AT | Atlántida | La Ceiba |
    03 | HN-CL | Colón | Trujillo |
    04 | HN-CM | Comayagua | Comayagua |
    05 | HN-CP | Copán | Santa Rosa de Copán |
    06 | HN-CR | Cortés | San Pedro Sula |
    02 | HN-CH | Choluteca | Ciudad Choluteca |
    07 | HN-EP | El Paraíso | Yuscarán |
    08 | HN-FM | Francisco Morazán | Tegucigalpa | Tegucigalpa
    09 | HN-GD | Gracias a Dios | Puerto Lempira | La Mosquitia
    10 | HN-IN | Intibucá | La Esperanza |
    11 | HN-IB | Islas de la Bahía | Coxen Hole | Roatán
    12 | HN-LP | La Paz | La Paz |
    13 | HN-LE | Lempira | Gracias |
    14 | HN-OC | Ocotepeque | Nueva Ocotepeque |
    15 | HN-OL | Olancho | Juticalpa |
    16 | HN-SB | Santa Bárbara | Santa Bárbara |
    17 | HN-VA | Valle | Nacaome |
    18 | HN-YO | Yoro | Yoro |`,
  municipios: {
    'HN-AT': 'La Ceiba; El Porvenir; Esparta; Jutiapa; La Masica; San Francisco; Tela; Arizona',
    'HN-CL': `Trujillo; Balfate; Iriona; Limón; Sabá; Santa Fe; Santa Rosa de Aguán; Sonaguera @15.64,-86.27; Tocoa;
      Bonito Oriental`,
    'HN-CM': `Comayagua; Ajuterique; El Rosario; Esquías; Humuya; La Libertad; Lamaní; La Trinidad; Lejamaní; Meámbar;
      Minas de Oro; Ojos de Agua; San Jerónimo; San José de Comayagua; San José del Potrero; San Luis; San Sebastián;
      Siguatepeque; Villa de San Antonio; Las Lajas; Taulabé`,
    'HN-CP': `Santa Rosa de Copán; Cabañas; Concepción; Copán Ruinas =Copán; Corquín; Cucuyagua; Dolores; Dulce Nombre;
      El Paraíso; Florida; La Jigua; La Unión; Nueva Arcadia =La Entrada; San Agustín; San Antonio; San Jerónimo;
      San José =San José de Copán; San Juan de Opoa; San Nicolás; San Pedro; Santa Rita =Santa Rita, Copan; Trinidad de Copán;
      Veracruz`,
    'HN-CR': `San Pedro Sula ~SPS; Choloma; Omoa; Pimienta =Pimienta Vieja; Potrerillos; Puerto Cortés =Puerto Cortez;
      San Antonio de Cortés; San Francisco de Yojoa; San Manuel; Santa Cruz de Yojoa; Villanueva; La Lima`,
    'HN-CH': `Choluteca =Ciudad Choluteca; Apacilagua; Concepción de María; Duyure; El Corpus =Corpus; El Triunfo; Marcovia; Morolica;
      Namasigüe; Orocuina; Pespire; San Antonio de Flores; San Isidro; San José; San Marcos de Colón;
      Santa Ana de Yusguare`,
    'HN-EP': `Yuscarán; Alauca; Danlí; El Paraíso; Güinope; Jacaleapa; Liure; Morocelí; Oropolí; San Antonio de Flores;
      San Lucas; San Matías; Soledad; Teupasenti; Texiguat; Vado Ancho; Yauyupe; Trojes =Las Trojes; Potrerillos`,
    'HN-FM': `Distrito Central =Tegucigalpa ~Comayagüela; Alubarén; Cedros; Curarén; El Porvenir; Guaimaca; La Libertad;
      La Venta; Lepaterique; Maraita; Marale; Nueva Armenia; Ojojona; Orica; Reitoca; Sabanagrande;
      San Antonio de Oriente; San Buenaventura; San Ignacio; San Juan de Flores ~Cantarranas; San Miguelito;
      Santa Ana; Santa Lucía; Talanga; Tatumbla; Valle de Ángeles; Villa de San Francisco; Vallecillo`,
    'HN-GD': `Puerto Lempira; Brus Laguna; Ahuas =Auas; Juan Francisco Bulnes; Ramón Villeda Morales; Wampusirpi`,
    'HN-IN': `La Esperanza; Camasca; Colomoncagua; Concepción; Dolores; Intibucá; Jesús de Otoro; Magdalena; Masaguara;
      San Antonio; San Isidro; San Juan; San Marcos de la Sierra; San Miguel Guancapla; Santa Lucía; Yamaranguila;
      San Francisco de Opalaca`,
    'HN-IB': 'Roatán =Coxen Hole; Guanaja; José Santos Guardiola ~Oak Ridge; Utila @16.10,-86.90',
    'HN-LP': `La Paz; Aguanqueterique; Cabañas; Cane; Chinacla; Guajiquiro; Lauterique; Marcala; Mercedes de Oriente;
      Opatoro; San Antonio del Norte; San José; San Juan; San Pedro de Tutule; Santa Ana; Santa Elena; Santa María;
      Santiago de Puringla =Santiago Puringla; Yarula`,
    'HN-LE': `Gracias; Belén; Candelaria; Cololaca; Erandique; Gualcince; Guarita; La Campa; La Iguala; Las Flores;
      La Unión; La Virtud; Lepaera; Mapulaca; Piraera; San Andrés; San Francisco; San Juan Guarita;
      San Manuel Colohete; San Rafael; San Sebastián; Santa Cruz; Talgua; Tambla; Tomalá; Valladolid; Virginia;
      San Marcos de Caiquín`,
    'HN-OC': `Ocotepeque =Nueva Ocotepeque; Belén Gualcho; Concepción; Dolores Merendón; Fraternidad; La Encarnación;
      La Labor; Lucerna; Mercedes; San Fernando; San Francisco del Valle; San Jorge; San Marcos; Santa Fe; Sensenti;
      Sinuapa`,
    'HN-OL': `Juticalpa; Campamento; Catacamas @14.80,-85.89; Concordia; Dulce Nombre de Culmí; El Rosario;
      Esquipulas del Norte; Gualaco; Guarizama; Guata =La Guata; Guayape; Jano; La Unión; Mangulile; Manto; Salamá;
      San Esteban; San Francisco de Becerra; San Francisco de la Paz; Santa María del Real; Silca; Yocón; Patuca`,
    'HN-SB': `Santa Bárbara; Arada; Atima; Azacualpa; Ceguaca; San José de Colinas ~Colinas; Concepción del Norte;
      Concepción del Sur; Chinda; El Níspero; Gualala; Ilama; Macuelizo; Naranjito; Nuevo Celilac; Petoa; Protección;
      Quimistán; San Francisco de Ojuera; San Luis; San Marcos; San Nicolás; San Pedro Zacapa; Santa Rita;
      San Vicente Centenario; Trinidad; Las Vegas =Las Vegas, Santa Barbara; Nueva Frontera`,
    'HN-VA': `Nacaome; Alianza =La Alianza; Amapala; Aramecina; Caridad; Goascorán; Langue; San Francisco de Coray;
      San Lorenzo`,
    'HN-YO': 'Yoro; Arenal; El Negrito; El Progreso; Jocón; Morazán; Olanchito; Santa Rita; Sulaco; Victoria; Yorito',
  },
}

const NI: CountryTable = {
  pais: 'NI',
  caja: [10.6, 15.1, -87.8, -82.5],
  departamentos: `
    01 | NI-BO | Boaco | Boaco |
    02 | NI-CA | Carazo | Jinotepe |
    03 | NI-CI | Chinandega | Chinandega |
    04 | NI-CO | Chontales | Juigalpa |
    05 | NI-ES | Estelí | Estelí |
    06 | NI-GR | Granada | Granada |
    07 | NI-JI | Jinotega | Jinotega |
    08 | NI-LE | León | León |
    09 | NI-MD | Madriz | Somoto |
    10 | NI-MN | Managua | Managua |
    11 | NI-MS | Masaya | Masaya |
    12 | NI-MT | Matagalpa | Matagalpa |
    13 | NI-NS | Nueva Segovia | Ocotal |
    14 | NI-SJ | Río San Juan | San Carlos |
    15 | NI-RI | Rivas | Rivas |
    17 | NI-AN | Costa Caribe Norte | Puerto Cabezas | RACCN, RACN, RAAN, Región Autónoma de la Costa Caribe Norte, Atlántico Norte, Región Autónoma del Atlántico Norte
    18 | NI-AS | Costa Caribe Sur | Bluefields | RACCS, RACS, RAAS, Región Autónoma de la Costa Caribe Sur, Atlántico Sur, Región Autónoma del Atlántico Sur`,
  municipios: {
    'NI-BO': 'Boaco; Camoapa; San José de los Remates; San Lorenzo; Santa Lucía; Teustepe',
    'NI-CA': 'Diriamba; Dolores; El Rosario; Jinotepe; La Conquista; La Paz de Carazo; San Marcos; Santa Teresa',
    'NI-CI': `Chichigalpa; Chinandega; Cinco Pinos ~San Juan de Cinco Pinos; Corinto; El Realejo; El Viejo; Posoltega;
      Puerto Morazán; San Francisco del Norte; San Pedro del Norte; Santo Tomás del Norte; Somotillo;
      Villanueva ~Villa Nueva`,
    'NI-CO': `Acoyapa; Comalapa; El Coral; Juigalpa; La Libertad; San Francisco de Cuapa =Cuapa; San Pedro de Lóvago;
      Santo Domingo; Santo Tomás; Villa Sandino`,
    'NI-ES': 'Condega; Estelí; La Trinidad; Pueblo Nuevo; San Juan de Limay; San Nicolás',
    'NI-GR': 'Diriá; Diriomo; Granada; Nandaime',
    'NI-JI': `El Cuá; Jinotega; La Concordia; San José de Bocay; San Rafael del Norte; San Sebastián de Yalí ~Yalí;
      Santa María de Pantasma =Las Praderas ~Pantasma; Wiwilí de Jinotega ~Wiwilí`,
    'NI-LE': `Achuapa; El Jicaral; El Sauce; La Paz Centro; Larreynaga =Malpaisillo; León; Nagarote; Quezalguaque;
      Santa Rosa del Peñón; Telica`,
    'NI-MD': `Las Sabanas; Palacagüina; San José de Cusmapa; San Juan de Río Coco; San Lucas; Somoto; Telpaneca;
      Totogalpa; Yalagüina`,
    'NI-MN': `Ciudad Sandino; El Crucero; Managua; Mateare; San Francisco Libre; San Rafael del Sur; Ticuantepe; Tipitapa;
      Villa El Carmen ~Villa Carlos Fonseca`,
    'NI-MS': `Catarina; La Concepción; Masatepe; Masaya; Nandasmo; Nindirí; Niquinohomo; San Juan de Oriente; Tisma`,
    'NI-MT': `Ciudad Darío; El Tuma - La Dalia =La Dalia; Esquipulas; Matagalpa; Matiguás; Muy Muy; Rancho Grande;
      Río Blanco; San Dionisio; San Isidro; San Ramón; Sébaco; Terrabona`,
    'NI-NS': `Ciudad Antigua; Dipilto; El Jícaro; Jalapa; Macuelizo; Mozonte; Murra; Ocotal; Quilalí; San Fernando;
      Santa María; Wiwilí de Nueva Segovia =Wiwilí`,
    'NI-SJ': `El Almendro; El Castillo =Boca de Sábalos; Morrito; San Carlos;
      San Juan de Nicaragua =Greytown ~San Juan del Norte; San Miguelito`,
    'NI-RI': 'Altagracia; Belén; Buenos Aires; Cárdenas; Moyogalpa; Potosí; Rivas; San Jorge; San Juan del Sur; Tola',
    'NI-AN': `Bonanza; Mulukukú; Prinzapolka; Puerto Cabezas ~Bilwi; Rosita @13.92,-84.40; Siuna; Waslala; Waspán ~Waspam`,
    'NI-AS': `Bluefields; Corn Island ~Islas del Maíz; Desembocadura de Río Grande =Karawala; El Ayote; El Rama;
      El Tortuguero; Kukra Hill; La Cruz de Río Grande; Laguna de Perlas; Muelle de los Bueyes; Nueva Guinea;
      Paiwas =Bocana de Paiwas`,
  },
}

// Costa Rica's 84 cantons, which addresses use as municipalities.
const CR: CountryTable = {
  pais: 'CR',
  caja: [5.4, 11.3, -87.2, -82.4],
  departamentos: `
    08 | CR-SJ | San José | San José |
    01 | CR-A | Alajuela | Alajuela |
    02 | CR-C | Cartago | Cartago |
    04 | CR-H | Heredia | Heredia |
    03 | CR-G | Guanacaste | Liberia |
    07 | CR-P | Puntarenas | Puntarenas |
    06 | CR-L | Limón | Limón |`,
  municipios: {
    'CR-SJ': `San José; Escazú; Desamparados @9.90,-84.06; Puriscal =Santiago; Tarrazú =San Marcos; Aserrí; Mora =Colón ~Ciudad Colón;
      Goicoechea =Guadalupe; Santa Ana; Alajuelita; Vázquez de Coronado ~Coronado @9.98,-84.01; Acosta =San Ignacio;
      Tibás =San Juan; Moravia =San Vicente de Moravia; Montes de Oca =San Pedro; Turrubares @9.91,-84.44; Dota @9.65,-83.97;
      Curridabat; Pérez Zeledón =San Isidro ~San Isidro de El General; León Cortés Castro =San Pablo ~León Cortés`,
    'CR-A': `Alajuela; San Ramón; Grecia @10.07,-84.31; San Mateo @9.94,-84.52; Atenas; Naranjo; Palmares @10.06,-84.43; Poás ~San Pedro de Poás @10.08,-84.25;
      Orotina; San Carlos =Quesada ~Ciudad Quesada; Zarcero; Sarchí ~Valverde Vega; Upala; Los Chiles;
      Guatuso @10.67,-84.82; Río Cuarto @10.34,-84.21`,
    'CR-C': `Cartago; Paraíso; La Unión =Tres Ríos; Jiménez ~Juan Viñas @9.90,-83.75; Turrialba; Alvarado =Pacayas;
      Oreamuno ~San Rafael de Oreamuno @9.88,-83.90; El Guarco ~El Tejar @9.84,-83.94`,
    'CR-H': `Heredia; Barva @10.02,-84.12; Santo Domingo; Santa Bárbara @10.04,-84.16; San Rafael; San Isidro @10.02,-84.06;
      Belén =San Antonio ~San Antonio de Belén; Flores ~San Joaquín de Flores @10.00,-84.16; San Pablo;
      Sarapiquí =La Virgen ~Puerto Viejo de Sarapiquí ~Puerto Viejo`,
    'CR-G': `Liberia; Nicoya; Santa Cruz; Bagaces; Carrillo =Sardinal ~Filadelfia; Cañas; Abangares =Juntas ~Las Juntas;
      Tilarán; Nandayure; La Cruz; Hojancha`,
    'CR-P': `Puntarenas; Esparza; Buenos Aires; Montes de Oro =Miramar; Osa =Ciudad Cortés; Quepos ~Aguirre; Golfito;
      Coto Brus =San Vito; Parrita; Corredores =Corredor ~Ciudad Neily; Garabito =Jacó; Monteverde @10.31,-84.82;
      Puerto Jiménez @8.53,-83.31`,
    'CR-L': 'Limón ~Puerto Limón; Pococí =Guápiles; Siquirres; Talamanca =Sixaola ~Bribri; Matina; Guácimo',
  },
}

const PA: CountryTable = {
  pais: 'PA',
  caja: [7.1, 9.7, -83.1, -77.1],
  departamentos: `
    01 | PA-1 | Bocas del Toro | Bocas del Toro |
    03 | PA-2 | Coclé | Penonomé |
    04 | PA-3 | Colón | Colón |
    02 | PA-4 | Chiriquí | David |
    05 | PA-5 | Darién | La Palma |
    06 | PA-6 | Herrera | Chitré |
    07 | PA-7 | Los Santos | Las Tablas |
    08 | PA-8 | Panamá | Panamá |
    10 | PA-9 | Veraguas | Santiago de Veraguas |
    13 | PA-10 | Panamá Oeste | La Chorrera |
    11 | PA-EM | Emberá-Wounaan | Unión Chocó | Emberá, Comarca Emberá
    09 | PA-KY | Guna Yala | El Porvenir | Kuna Yala, San Blas
    12 | PA-NB | Ngäbe-Buglé | Buabidi | Ngöbe-Buglé`,
  municipios: {
    'PA-1': 'Almirante; Bocas del Toro ~Isla Colón; Changuinola; Chiriquí Grande',
    'PA-2': 'Aguadulce; Antón; La Pintada; Natá; Olá; Penonomé',
    'PA-3': `Chagres =Nuevo Chagres; Colón; Donoso =Miguel de La Borda; Omar Torrijos Herrera; Portobelo;
      Santa Isabel =Palenque`,
    'PA-4': `Alanje; Barú =Puerto Armuelles; Boquerón; Boquete ~Bajo Boquete; Bugaba =La Concepción; David; Dolega;
      Gualaca; Remedios; Renacimiento =Río Sereno; San Félix =Las Lajas; San Lorenzo =Horconcitos; Tierras Altas =Volcán;
      Tolé`,
    'PA-5': 'Chepigana =La Palma; Pinogana =El Real de Santa María; Santa Fe',
    'PA-6': 'Chitré; Las Minas; Los Pozos; Ocú; Parita; Pesé; Santa María',
    'PA-7': 'Guararé; Las Tablas; Los Santos ~La Villa de Los Santos; Macaracas; Pedasí; Pocrí; Tonosí',
    'PA-8': `Balboa =San Miguel; Chepo; Chimán; Panamá ~Ciudad de Panamá ~Panama City; San Miguelito; Taboga @8.80,-79.56`,
    'PA-9': `Atalaya; Calobre; Cañazas; La Mesa; Las Palmas; Mariato; Montijo; Río de Jesús; San Francisco; Santa Fe;
      Santiago =Santiago de Veraguas; Soná`,
    'PA-10': 'Arraiján; Capira; Chame; La Chorrera; San Carlos',
    'PA-EM': 'Cémaco =Unión Chocó; Sambú =Puerto Indio',
    // Guna Yala has no districts, so the table lists its four corregimientos.
    'PA-KY': 'Ailigandí; Narganá; Puerto Obaldía; Tubualá',
    'PA-NB': `Besikó =Soloy; Jirondai; Kankintú =Bisira; Kusapín; Mironó =Hato Pilón; Müna =Chichica;
      Nole Duima =Cerro Iglesias; Ñürüm =Buenos Aires; Santa Catalina ~Calovébora`,
  },
}

const CO: CountryTable = {
  pais: 'CO',
  caja: [-4.3, 13.6, -82, -66.8],
  departamentos: `
    01 | CO-AMA | Amazonas | Leticia |
    02 | CO-ANT | Antioquia | Medellín |
    03 | CO-ARA | Arauca | Arauca |
    04 | CO-ATL | Atlántico | Barranquilla |
    34 | CO-DC | Bogotá | Bogotá | Bogotá D.C., Bogotá Distrito Capital, Santa Fe de Bogotá, Santafé de Bogotá
    35 | CO-BOL | Bolívar | Cartagena |
    36 | CO-BOY | Boyacá | Tunja |
    37 | CO-CAL | Caldas | Manizales |
    08 | CO-CAQ | Caquetá | Florencia |
    32 | CO-CAS | Casanare | Yopal |
    09 | CO-CAU | Cauca | Popayán |
    10 | CO-CES | Cesar | Valledupar |
    11 | CO-CHO | Chocó | Quibdó |
    12 | CO-COR | Córdoba | Montería |
    33 | CO-CUN | Cundinamarca | *Zipaquirá |
    15 | CO-GUA | Guainía | Inírida |
    14 | CO-GUV | Guaviare | San José del Guaviare |
    16 | CO-HUI | Huila | Neiva |
    17 | CO-LAG | La Guajira | Riohacha |
    38 | CO-MAG | Magdalena | Santa Marta |
    19 | CO-MET | Meta | Villavicencio |
    20 | CO-NAR | Nariño | Pasto |
    21 | CO-NSA | Norte de Santander | Cúcuta |
    22 | CO-PUT | Putumayo | Mocoa |
    23 | CO-QUI | Quindío | Armenia |
    24 | CO-RIS | Risaralda | Pereira |
    25 | CO-SAP | San Andrés y Providencia | San Andrés | San Andrés, San Andrés Providencia y Santa Catalina, Archipiélago de San Andrés Providencia y Santa Catalina
    26 | CO-SAN | Santander | Bucaramanga |
    27 | CO-SUC | Sucre | Sincelejo |
    28 | CO-TOL | Tolima | Ibagué |
    29 | CO-VAC | Valle del Cauca | Cali | Valle
    30 | CO-VAU | Vaupés | Mitú |
    31 | CO-VID | Vichada | Puerto Carreño |`,
  desde: 0,
  correcciones: `
    CO-CUN: Girardot City = Girardot
    CO-DC: Bogotá = Bogotá ~Bogotá D.C. ~Bogotá Distrito Capital
    CO-DC: Barrio San Luis =
    CO-SAP: Mountain =
    CO-SAP: Santa Isabel = Providencia ~Providencia y Santa Catalina
    CO-BOL: Cartagena = Cartagena de Indias ~Cartagena
    CO-NAR: Pasto = Pasto ~San Juan de Pasto
    CO-NSA: Cúcuta = Cúcuta ~San José de Cúcuta
    CO-VAC: Cali = Cali ~Santiago de Cali
    CO-VAC: Guadalajara de Buga = Buga ~Guadalajara de Buga
    CO-CAU: Piendamo = Piendamó
    CO-BOL: Mompós = Mompox ~Mompós
    CO-CUN: Puerto Bogotá =
    CO-ANT: Cruces de Anorí =
    CO-MET: Puerto Yuca =
    CO-CAS: Municipio Hato Corozal = Hato Corozal
    CO-VAC: Darien = Calima ~El Darién ~Calima El Darién
    CO-RIS: Anserma =
    CO-RIS: La Merced =
    CO-TOL: Tres Esquinas =
    CO-TOL: Playarrica =
    CO-TOL: Payandé =
    CO-TOL: Padua =
    CO-TOL: La Chamba =
    CO-TOL: Junín =
    CO-TOL: Gaitania =
    CO-TOL: Frías =
    CO-TOL: Doima =
    CO-TOL: Chicoral =
    CO-TOL: Anaime =
    CO-TOL: Laureles =
    CO-TOL: Campo Alegre =
    CO-TOL: Santiago Pérez =`,
}

const MX: CountryTable = {
  pais: 'MX',
  caja: [14.5, 32.8, -118.5, -86.6],
  departamentos: `
    01 | MX-AGU | Aguascalientes | Aguascalientes |
    02 | MX-BCN | Baja California | Mexicali | Baja California Norte
    03 | MX-BCS | Baja California Sur | La Paz |
    04 | MX-CAM | Campeche | Campeche |
    05 | MX-CHP | Chiapas | Tuxtla |
    06 | MX-CHH | Chihuahua | Chihuahua |
    09 | MX-CMX | Ciudad de México | Mexico City | CDMX, Distrito Federal, DF, México DF, Mexico City
    07 | MX-COA | Coahuila | Saltillo | Coahuila de Zaragoza
    08 | MX-COL | Colima | Colima |
    10 | MX-DUR | Durango | Victoria de Durango |
    15 | MX-MEX | Estado de México | Toluca | México, Edomex, Edo Mex, Edo Méx
    11 | MX-GUA | Guanajuato | Guanajuato |
    12 | MX-GRO | Guerrero | Chilpancingo |
    13 | MX-HID | Hidalgo | Pachuca de Soto |
    14 | MX-JAL | Jalisco | Guadalajara |
    16 | MX-MIC | Michoacán | Morelia | Michoacán de Ocampo
    17 | MX-MOR | Morelos | Cuernavaca |
    18 | MX-NAY | Nayarit | Tepic |
    19 | MX-NLE | Nuevo León | Monterrey | N.L.
    20 | MX-OAX | Oaxaca | Oaxaca |
    21 | MX-PUE | Puebla | Puebla |
    22 | MX-QUE | Querétaro | Santiago de Querétaro | Querétaro de Arteaga
    23 | MX-ROO | Quintana Roo | Chetumal | Q. Roo
    24 | MX-SLP | San Luis Potosí | San Luis Potosí | S.L.P.
    25 | MX-SIN | Sinaloa | Culiacán |
    26 | MX-SON | Sonora | Hermosillo |
    27 | MX-TAB | Tabasco | Villahermosa |
    28 | MX-TAM | Tamaulipas | Ciudad Victoria |
    29 | MX-TLA | Tlaxcala | Tlaxcala |
    30 | MX-VER | Veracruz | Xalapa de Enríquez | Veracruz de Ignacio de la Llave
    31 | MX-YUC | Yucatán | Mérida |
    32 | MX-ZAC | Zacatecas | Zacatecas |`,
  desde: 5_000,
  municipios: {
    // The sixteen boroughs, and the city itself for addresses without a borough.
    'MX-CMX': `Ciudad de México =Mexico City ~CDMX ~México DF ~México; Álvaro Obregón; Azcapotzalco; Benito Juárez;
      Coyoacán; Cuajimalpa de Morelos =Delegación Cuajimalpa de Morelos ~Cuajimalpa; Cuauhtémoc; Gustavo A. Madero =Gustavo Adolfo Madero; Iztacalco; Iztapalapa;
      La Magdalena Contreras =Magdalena Contreras; Miguel Hidalgo; Milpa Alta ~Villa Milpa Alta; Tláhuac; Tlalpan;
      Venustiano Carranza; Xochimilco`,
  },
  correcciones: `
    MX-BCN: Rosarito = Playas de Rosarito ~Rosarito
    MX-CHP: Tuxtla = Tuxtla Gutiérrez ~Tuxtla
    MX-CHP: Comitán = Comitán de Domínguez ~Comitán
    MX-CHH: Juárez = Ciudad Juárez ~Juárez
    MX-CHH: Coyame = Coyame ~Coyame del Sotol
    MX-CHH: San Carlos = San Carlos ~Manuel Benavides
    MX-CHH: Puerto Palomas = Puerto Palomas ~Puerto Palomas de Villa
    MX-CHH: Parral = Hidalgo del Parral ~Parral
    MX-DUR: Victoria de Durango = Durango ~Victoria de Durango
    MX-GUA: León de los Aldama = León ~León de los Aldama
    MX-GRO: Chilpancingo = Chilpancingo de los Bravo ~Chilpancingo
    MX-GRO: Ixtapa-Zihuatanejo = Zihuatanejo ~Ixtapa-Zihuatanejo ~Zihuatanejo de Azueta
    MX-JAL: Tlaquepaque = San Pedro Tlaquepaque ~Tlaquepaque
    MX-MEX: Ciudad Nezahualcoyotl = Nezahualcóyotl ~Ciudad Nezahualcóyotl ~Ciudad Neza ~Neza
    MX-MEX: Tlalnepantla = Tlalnepantla de Baz ~Tlalnepantla
    MX-MEX: Santa María Chimalhuacán = Chimalhuacán ~Santa María Chimalhuacán
    MX-MIC: Heróica Zitácuaro = Zitácuaro ~Heroica Zitácuaro
    MX-NAY: Valle de Banderas = Valle de Banderas ~Bahía de Banderas ~Nuevo Vallarta ~Nuevo Nayarit ~Sayulita ~Punta de Mita
    MX-OAX: Oaxaca = Oaxaca de Juárez ~Oaxaca
    MX-OAX: Tuxtepec = San Juan Bautista Tuxtepec ~Tuxtepec
    MX-OAX: Ciudad de Huajuapan de León = Huajuapan de León ~Huajuapan
    MX-PUE: Cholula = San Pedro Cholula ~Cholula
    MX-PUE: Puebla = Puebla ~Heroica Puebla de Zaragoza ~Puebla de Zaragoza
    MX-QUE: Santiago de Querétaro = Querétaro ~Santiago de Querétaro
    MX-ROO: Cancún = Cancún ~Benito Juárez
    MX-ROO: Playa del Carmen = Playa del Carmen ~Solidaridad
    MX-SIN: Los Mochis = Los Mochis ~Ahome
    MX-SON: Ciudad Obregón = Ciudad Obregón ~Cajeme
    MX-SON: Heroica Guaymas = Guaymas ~Heroica Guaymas
    MX-TAB: Villahermosa = Villahermosa ~Centro
    MX-TAM: Heroica Matamoros = Matamoros ~Heroica Matamoros
    MX-TAM: Nueva Ciudad Guerrero = Nueva Ciudad Guerrero ~Guerrero ~Ciudad Guerrero
    MX-VER: Xalapa de Enríquez = Xalapa ~Jalapa ~Xalapa de Enríquez
    MX-YUC: Uman = Umán
    MX-COL: Ciudad de Villa de Álvarez = Villa de Álvarez
    MX-COL: Ciudad de Armería = Armería
    MX-CAM: Ciudad del Carmen = Ciudad del Carmen ~Carmen`,
}

/** Countries in the order of the catalogue. The lookup of a name that exists in two countries uses the same order. */
export const COUNTRY_TABLES: readonly CountryTable[] = [GT, SV, HN, NI, CR, PA, CO, MX]
