// Runs one Auth.js adapter as a program. It reads calls from standard input and writes results to standard output, one JSON value on
// each line. The argument is {adapter, url, name, client}. Times are sent as {"$time": milliseconds}. In addition to the adapter's
// methods there are some that an application would run with the same library:
//   expire(now)    deletes the sessions and tokens that expired before now, and returns the number of deleted sessions
//   live(now)      returns the tokens of the sessions that expire after now
//   push()         applies the adapter's schema to the database, as the library's tool does: only with TypeORM, Sequelize
//                  and with Drizzle on SQLite
import { createInterface } from "node:readline"

const settings = JSON.parse(process.argv[2])

// The libraries' own output must not reach the parent process.
const write = process.stdout.write.bind(process.stdout)
process.stdout.write = process.stderr.write.bind(process.stderr)

const tokens = (rows) => rows.map((row) => row.sessionToken).sort()

const drizzle = async ({ table, time, key, db, push }) => {
  const { DrizzleAdapter } = await import("@auth/drizzle-adapter")
  const { gt, lt } = await import("drizzle-orm")
  const session = table("session", { sessionToken: key("sessionToken").primaryKey(), expires: time("expires").notNull() })
  const verificationToken = table("verificationToken", { identifier: key("identifier"), token: key("token"), expires: time("expires").notNull() })
  return {
    ...DrizzleAdapter(db),
    expire: async (now) => {
      const gone = await db.select().from(session).where(lt(session.expires, now))
      await db.delete(session).where(lt(session.expires, now))
      await db.delete(verificationToken).where(lt(verificationToken.expires, now))
      return gone.length
    },
    live: async (now) => tokens(await db.select().from(session).where(gt(session.expires, now))),
    push,
  }
}

const prisma = async (adapter) => {
  const { PrismaAdapter } = await import("@auth/prisma-adapter")
  const { PrismaClient } = (await import(settings.client)).default
  const client = new PrismaClient({ adapter })
  return {
    ...PrismaAdapter(client),
    expire: async (now) => {
      await client.verificationToken.deleteMany({ where: { expires: { lt: now } } })
      return (await client.session.deleteMany({ where: { expires: { lt: now } } })).count
    },
    live: async (now) => tokens(await client.session.findMany({ where: { expires: { gt: now } } })),
  }
}

// With synchronize the adapter would push its schema at every call, and outside of production this is the default.
const typeorm = async (dataSource) => {
  const { TypeORMAdapter, entities, getManager } = await import("@auth/typeorm-adapter")
  const { LessThan, MoreThan } = await import("typeorm")
  const manager = () => getManager({ dataSource, entities })
  return {
    ...TypeORMAdapter(dataSource),
    expire: async (now) => {
      const m = await manager()
      const ended = (entity) => m.find(entity, { where: { expires: LessThan(now) } }) // delete does not use the column's transformer
      const gone = await ended("SessionEntity")
      await m.remove([...gone, ...await ended("VerificationTokenEntity")])
      return gone.length
    },
    live: async (now) => tokens(await (await manager()).find("SessionEntity", { where: { expires: MoreThan(now) } })),
    push: async () => (await manager()).connection.synchronize(),
  }
}

const adapters = {
  "prisma sqlite": async () => {
    const { PrismaLibSQL } = await import("@prisma/adapter-libsql")
    return prisma(new PrismaLibSQL({ url: settings.url }))
  },
  "prisma sqlite unixepoch-ms": async () => {
    const { PrismaLibSQL } = await import("@prisma/adapter-libsql")
    return prisma(new PrismaLibSQL({ url: settings.url }, { timestampFormat: "unixepoch-ms" }))
  },
  "prisma postgres": async () => {
    const { PrismaPg } = await import("@prisma/adapter-pg")
    return prisma(new PrismaPg({ connectionString: settings.url }, { schema: settings.name }))
  },
  "drizzle sqlite": async () => {
    const { integer, primaryKey, sqliteTable, text } = await import("drizzle-orm/sqlite-core")
    const { drizzle: open } = await import("drizzle-orm/libsql")
    const { sql } = await import("drizzle-orm")
    const db = open({ connection: { url: settings.url } })
    const time = (name) => integer(name, { mode: "timestamp_ms" })
    const push = async () => {
      const { pushSQLiteSchema } = await import("drizzle-kit/api")
      const user = sqliteTable("user", { id: text().primaryKey(), name: text(), email: text().unique(), emailVerified: time("emailVerified"), image: text() })
      const userId = () => text().notNull().references(() => user.id, { onDelete: "cascade" })
      const { statementsToExecute } = await pushSQLiteSchema({ // as defined in the adapter's documentation
        user,
        account: sqliteTable("account", {
          userId: userId(), type: text().notNull(), provider: text().notNull(), providerAccountId: text().notNull(), refresh_token: text(),
          access_token: text(), expires_at: integer(), token_type: text(), scope: text(), id_token: text(), session_state: text(),
        }, (a) => [primaryKey({ columns: [a.provider, a.providerAccountId] })]),
        session: sqliteTable("session", { sessionToken: text().primaryKey(), userId: userId(), expires: time("expires").notNull() }),
        verificationToken: sqliteTable("verificationToken", {
          identifier: text().notNull(), token: text().notNull(), expires: time("expires").notNull(),
        }, (v) => [primaryKey({ columns: [v.identifier, v.token] })]),
        authenticator: sqliteTable("authenticator", {
          credentialID: text().notNull().unique(), userId: userId(), providerAccountId: text().notNull(), credentialPublicKey: text().notNull(),
          counter: integer().notNull(), credentialDeviceType: text().notNull(), credentialBackedUp: integer({ mode: "boolean" }).notNull(), transports: text(),
        }, (a) => [primaryKey({ columns: [a.userId, a.credentialID] })]),
      }, db)
      // Its function apply is not used, because it creates existing indexes and stops at the first error.
      for (const statement of statementsToExecute) {
        await db.run(sql.raw(statement)).catch((error) => { if (!/already exists/.test(error.cause ?? error)) throw error })
      }
    }
    return drizzle({ table: sqliteTable, time, key: text, db, push })
  },
  "drizzle postgres": async () => {
    const { pgTable, text, timestamp } = await import("drizzle-orm/pg-core")
    const { drizzle: open } = await import("drizzle-orm/node-postgres")
    const db = open({ connection: { connectionString: settings.url, options: settings.name && `-c search_path=${settings.name}` } })
    return drizzle({ table: pgTable, time: (name) => timestamp(name, { mode: "date" }), key: text, db })
  },
  "drizzle mysql": async () => {
    const { mysqlTable, timestamp, varchar } = await import("drizzle-orm/mysql-core")
    const { drizzle: open } = await import("drizzle-orm/mysql2")
    const key = (name) => varchar(name, { length: 255 })
    return drizzle({ table: mysqlTable, time: (name) => timestamp(name, { mode: "date" }), key, db: open(settings.url) })
  },
  "typeorm postgres": () => typeorm({ type: "postgres", url: settings.url, schema: settings.name, synchronize: false }),
  "typeorm mysql": () => typeorm({ type: "mariadb", url: settings.url, synchronize: false }),
  "pg": async () => {
    const { default: PostgresAdapter } = await import("@auth/pg-adapter")
    const { default: pg } = await import("pg")
    const pool = new pg.Pool({ connectionString: settings.url, options: settings.name && `-c search_path=${settings.name}` })
    return {
      ...PostgresAdapter(pool),
      expire: async (now) => {
        await pool.query("DELETE FROM verification_token WHERE expires < $1", [now])
        return (await pool.query("DELETE FROM sessions WHERE expires < $1", [now])).rowCount
      },
      live: async (now) => tokens((await pool.query('SELECT "sessionToken" FROM sessions WHERE expires > $1', [now])).rows),
    }
  },
  "kysely postgres": async () => {
    const { KyselyAdapter } = await import("@auth/kysely-adapter")
    const { Kysely, PostgresDialect } = await import("kysely")
    const { default: pg } = await import("pg")
    const pool = new pg.Pool({ connectionString: settings.url, options: settings.name && `-c search_path=${settings.name}` })
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
    const ended = async (table, now) => Number((await db.deleteFrom(table).where("expires", "<", now).executeTakeFirst()).numDeletedRows)
    return {
      ...KyselyAdapter(db),
      expire: async (now) => {
        await ended("VerificationToken", now)
        return ended("Session", now)
      },
      live: async (now) => tokens(await db.selectFrom("Session").select("sessionToken").where("expires", ">", now).execute()),
    }
  },
  "sequelize postgres": async () => {
    const { default: SequelizeAdapter } = await import("@auth/sequelize-adapter")
    const { Op, Sequelize } = await import("sequelize")
    const client = new Sequelize(settings.url, { logging: false, dialectOptions: { options: settings.name && `-c search_path=${settings.name}` } })
    return {
      ...SequelizeAdapter(client, { synchronize: false }),
      expire: async (now) => {
        await client.models.verificationToken.destroy({ where: { expires: { [Op.lt]: now } } })
        return client.models.session.destroy({ where: { expires: { [Op.lt]: now } } })
      },
      live: async (now) => tokens(await client.models.session.findAll({ where: { expires: { [Op.gt]: now } } })),
      push: async () => void await client.sync(),
    }
  },
  "mongodb": async () => {
    const { MongoDBAdapter } = await import("@auth/mongodb-adapter")
    const { MongoClient } = await import("mongodb")
    const client = new MongoClient(settings.url)
    const db = client.db(settings.name)
    return {
      ...MongoDBAdapter(client, { databaseName: settings.name }),
      expire: async (now) => {
        await db.collection("verification_tokens").deleteMany({ expires: { $lt: now } })
        return (await db.collection("sessions").deleteMany({ expires: { $lt: now } })).deletedCount
      },
      live: async (now) => tokens(await db.collection("sessions").find({ expires: { $gt: now } }).toArray()),
    }
  },
}

const encode = (value) => JSON.stringify(value ?? null, function (key, encoded) {
  return this[key] instanceof Date ? { $time: this[key].getTime() } : encoded
})
const decode = (line) => JSON.parse(line, (_, value) => typeof value?.$time === "number" ? new Date(value.$time) : value)

const adapter = await adapters[settings.adapter]()
const answer = (value) => write(encode(value) + "\n")
answer({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = decode(line)
  try {
    answer({ result: await adapter[method](...args) })
  } catch (error) {
    answer({ error: `${error.name}: ${error.message}` })
  }
}
process.exit() // ends with the parent process
