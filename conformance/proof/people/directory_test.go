package people_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/directorytest"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

// pgTables is a Directory in tables of an application on PostgreSQL. The guide of organizations shows it.
type pgTables struct{ pool *pgxpool.Pool }

const pgSchema = `
create table orgs (
	id text primary key, slug text not null, name text not null, logo text not null, metadata json,
	second_factor boolean not null, join_requests boolean not null, created timestamptz not null,
	owners text[] not null, deleted boolean not null, version bigint not null
);
create table org_members (
	key text primary key, role text not null, joined timestamptz not null, version bigint not null,
	user_id text not null, org_id text not null references orgs (id) deferrable initially deferred
);
create index on org_members (org_id, key);
create index on org_members (user_id);
create table projects (id text primary key, org_id text not null references orgs (id) on delete cascade)`

type txKey struct{}

// in returns the transaction of ctx, or the pool.
func (d pgTables) in(ctx context.Context) interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
} {
	if tx, ok := ctx.Value(txKey{}).(pgx.Tx); ok {
		return tx
	}
	return d.pool
}

// one runs a statement that changes one row, and otherwise returns an error.
func (d pgTables) one(ctx context.Context, otherwise error, sql string, args ...any) error {
	tag, err := d.in(ctx).Exec(ctx, sql, args...)
	if err == nil && tag.RowsAffected() == 0 {
		err = otherwise
	}
	return err
}

// missing returns why no row had the version: there is none, or it was changed.
func (d pgTables) missing(ctx context.Context, err error, sql, key string) error {
	if !errors.Is(err, core.ErrConflict) {
		return err
	}
	rows, err := d.in(ctx).Query(ctx, sql, key)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(core.ErrNotFound, rows.Err())
	}
	return core.ErrConflict
}

func (d pgTables) Organization(ctx context.Context, id string) (*organization.Row, error) {
	rows, err := d.in(ctx).Query(ctx, `select id, slug, name, logo, metadata, second_factor, join_requests, created,
		owners, deleted, version from orgs where id = $1`, id)
	if err != nil {
		return nil, err
	}
	o, err := pgx.CollectExactlyOneRow(rows, func(r pgx.CollectableRow) (*organization.Row, error) {
		var o organization.Row
		err := r.Scan(&o.ID, &o.Slug, &o.Name, &o.Logo, &o.Metadata, &o.SecondFactor, &o.JoinRequests, &o.Created,
			&o.Owners, &o.Deleted, &o.Version)
		o.Created = o.Created.UTC()
		return &o, err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = core.ErrNotFound
	}
	return o, err
}

func (d pgTables) CreateOrganization(ctx context.Context, o *organization.Row) error {
	err := d.one(ctx, core.ErrConflict, `insert into orgs (id, slug, name, logo, metadata, second_factor, join_requests,
		created, owners, deleted, version) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1) on conflict do nothing`,
		o.ID, o.Slug, o.Name, o.Logo, o.Metadata, o.SecondFactor, o.JoinRequests, o.Created, o.Owners, o.Deleted)
	if err == nil {
		o.Version = 1
	}
	return err
}

func (d pgTables) UpdateOrganization(ctx context.Context, o *organization.Row) error {
	err := d.one(ctx, core.ErrConflict, `update orgs set slug = $3, name = $4, logo = $5, metadata = $6,
		second_factor = $7, join_requests = $8, owners = $9, deleted = $10, version = version + 1
		where id = $1 and version = $2`,
		o.ID, o.Version, o.Slug, o.Name, o.Logo, o.Metadata, o.SecondFactor, o.JoinRequests, o.Owners, o.Deleted)
	if err == nil {
		o.Version++
	}
	return d.missing(ctx, err, `select 1 from orgs where id = $1`, o.ID)
}

func (d pgTables) DeleteOrganization(ctx context.Context, id string) error {
	return d.one(ctx, core.ErrNotFound, `delete from orgs where id = $1`, id)
}

const pgMember = `select key, org_id, user_id, role, joined, version from org_members where `

func (d pgTables) members(ctx context.Context, sql string, args ...any) ([]*organization.MemberRow, error) {
	rows, err := d.in(ctx).Query(ctx, pgMember+sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (*organization.MemberRow, error) {
		var m organization.MemberRow
		err := r.Scan(&m.Key, &m.OrganizationID, &m.UserID, &m.Role, &m.Joined, &m.Version)
		m.Joined = m.Joined.UTC()
		return &m, err
	})
}

func (d pgTables) Member(ctx context.Context, key string) (*organization.MemberRow, error) {
	all, err := d.members(ctx, `key = $1`, key)
	if err != nil || len(all) == 0 {
		return nil, errors.Join(err, core.ErrNotFound)
	}
	return all[0], nil
}

func (d pgTables) CreateMember(ctx context.Context, m *organization.MemberRow) error {
	err := d.one(ctx, core.ErrConflict, `insert into org_members (key, org_id, user_id, role, joined, version)
		values ($1, $2, $3, $4, $5, 1) on conflict do nothing`, m.Key, m.OrganizationID, m.UserID, m.Role, m.Joined)
	if err == nil {
		m.Version = 1
	}
	return err
}

func (d pgTables) UpdateMember(ctx context.Context, m *organization.MemberRow) error {
	err := d.one(ctx, core.ErrConflict, `update org_members set role = $3, joined = $4, version = version + 1
		where key = $1 and version = $2`, m.Key, m.Version, m.Role, m.Joined)
	if err == nil {
		m.Version++
	}
	return d.missing(ctx, err, `select 1 from org_members where key = $1`, m.Key)
}

func (d pgTables) DeleteMember(ctx context.Context, key string) error {
	return d.one(ctx, core.ErrNotFound, `delete from org_members where key = $1`, key)
}

func (d pgTables) Members(
	ctx context.Context, id, cursor string, limit int,
) (all []*organization.MemberRow, next string, err error) {
	all, err = d.members(ctx, `org_id = $1 and key > $2 order by key limit $3`, id, cursor, limit)
	if len(all) == limit {
		next = all[limit-1].Key
	}
	return all, next, err
}

func (d pgTables) MembershipsOf(ctx context.Context, userID string) ([]*organization.MemberRow, error) {
	return d.members(ctx, `user_id = $1 order by key`, userID)
}

// within returns a context with a transaction that is rolled back after the test.
func (d pgTables) within(t *testing.T) (context.Context, pgx.Tx) {
	t.Helper()
	tx, err := d.pool.Begin(t.Context())
	check(t, err)
	t.Cleanup(func() { check(t, tx.Rollback(context.Background())) })
	return context.WithValue(t.Context(), txKey{}, tx), tx
}

// TestDirectory runs the contract of organizations in tables of an application on PostgreSQL, also within its
// transactions, and creates an organization together with a row of the application.
func TestDirectory(t *testing.T) {
	t.Parallel()
	at := engines.PostgresSchema(t)
	pool, err := pgxpool.New(t.Context(), at)
	check(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), pgSchema)
	check(t, err)
	d := pgTables{pool}

	newUser := func(context.Context) string { return core.NewID() }
	// Outside of a transaction a foreign key cannot be deferred, and the membership is stored before the organization.
	_, err = pool.Exec(t.Context(), `alter table org_members drop constraint org_members_org_id_fkey`)
	check(t, err)
	directorytest.Run(t, directorytest.Options{Directory: d, NewUser: newUser})
	_, err = pool.Exec(t.Context(), `delete from org_members; alter table org_members add foreign key (org_id)
		references orgs (id) deferrable initially deferred`)
	check(t, err)
	t.Run("in a transaction", func(t *testing.T) {
		directorytest.Run(t, directorytest.Options{
			Directory: d, NewUser: newUser,
			Context: func(t *testing.T) context.Context { t.Helper(); ctx, _ := d.within(t); return ctx },
		})
	})

	kept, err := postgres.Open(at, postgres.Options{})
	check(t, err)
	t.Cleanup(func() { check(t, kept.Close()) })
	check(t, kept.Migrate(t.Context()))
	ada, err := kept.CreateUser(t.Context(), &core.User{
		ID: core.NewID(), Email: "ada@example.com", EmailVerified: time.Now(),
	})
	check(t, err)
	orgs := organization.New(organization.Options{
		Mail: &orgSite{}, Directory: d,
	})
	_, err = core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
		Getenv: func(string) string { return "" }, Plugins: []core.Plugin{orgs},
	})
	check(t, err)
	for _, commit := range []bool{false, true} {
		tx, err := pool.Begin(t.Context())
		check(t, err)
		ctx := context.WithValue(t.Context(), txKey{}, tx)
		org, err := orgs.Create(ctx, organization.NewOrganization{OwnerID: ada.ID, Name: "Acme"})
		check(t, err)
		_, err = tx.Exec(ctx, `insert into projects values ('first', $1)`, org.ID)
		check(t, err)
		if commit {
			check(t, tx.Commit(ctx))
		} else {
			check(t, tx.Rollback(ctx))
		}
		m, err := orgs.MemberOf(t.Context(), org.ID, ada.ID)
		if commit && (err != nil || m.Role != organization.Owner) || !commit && !errors.Is(err, core.ErrNotFound) {
			t.Errorf("committed: %t, the member is %+v, %v", commit, m, err)
		}
		if all, err := orgs.Of(t.Context(), ada.ID); err != nil || (len(all) == 1) != commit {
			t.Errorf("committed: %t, the organizations are %+v, %v", commit, all, err)
		}
		if commit {
			check(t, orgs.Delete(t.Context(), org.ID))
		}
	}
	var rows int
	check(t, pool.QueryRow(t.Context(),
		`select (select count(*) from projects) + (select count(*) from org_members)`).Scan(&rows))
	if rows != 0 {
		t.Errorf("a deleted organization leaves %d rows", rows)
	}
}
