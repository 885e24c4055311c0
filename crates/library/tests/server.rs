//! What only a server has: roles, passwords, connections that are lost.

use std::path::PathBuf;
use std::thread;

use library::{Durability, Filter, Kept, Library, LibraryError, Location, Selector};

use crate::postgres::Postgres;
use crate::{Shelf, run, same};

fn at(address: &str) -> Location {
    PathBuf::from(address).into()
}

/// A database with a library of one run, and a role of that name which may log in.
fn with_role(role: &str) -> Option<(&'static Postgres, String, Location)> {
    let server = Postgres::shared()?;
    let database = server.database();
    Library::open(&at(&server.address("postgres", &database))).unwrap().save(&run(1)).unwrap();
    server.sql(&database, &format!("CREATE ROLE {role} LOGIN"));
    let place = at(&server.address(role, &database));
    Some((server, database, place))
}

#[test]
fn a_role_that_only_reads_reads_all_and_is_told_which_grant_lets_it_write() {
    let Some((server, database, place)) = with_role("reader") else { return };
    let lacking = |right: &str| {
        let error = Library::open(&place).map(drop).unwrap_err();
        assert!(matches!(&error, LibraryError::Rights { role, .. } if role == "reader"), "{error}");
        assert!(error.to_string().contains(right), "{error}");
        let told = error.to_string();
        told.split('`').nth(1).unwrap().to_owned()
    };
    // Each grant that is told is what it takes.
    server.sql(&database, &lacking("USAGE on the schema fathom"));
    let mut library = Library::open(&place).unwrap();
    assert!(!library.is_writable());
    assert_eq!(library.list(&Filter::default()).unwrap().len(), 1);
    same(&library.get("last").unwrap(), &run(1));
    assert_eq!(library.check().unwrap(), [] as [String; 0]);
    for error in [
        library.save(&run(2)).unwrap_err(),
        library.remove(&[Selector::from("last")]).unwrap_err(),
        library.refusal().unwrap(),
    ] {
        let told = error.to_string();
        assert!(told.contains("the role reader lacks the right to do this: INSERT on fathom.runs"), "{told}");
        assert!(told.contains("TO reader"), "{told}");
    }
    let grant = library.refusal().unwrap().to_string();
    server.sql(&database, grant.split('`').nth(1).unwrap());
    let mut library = Library::open(&place).unwrap();
    assert_eq!(library.save(&run(2)).unwrap(), 2);
    assert_eq!(library.remove(&[Selector::from("1")]).unwrap(), [run(1).id]);
    assert_eq!(library.check().unwrap(), [] as [String; 0]);
    server.sql(&database, "REVOKE SELECT ON fathom.records FROM reader");
    assert!(lacking("SELECT on fathom.records").starts_with("GRANT SELECT"));
}

#[test]
fn what_one_writer_makes_belongs_to_the_group_that_owns_the_schema() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server.sql(
        &database,
        "CREATE ROLE team; CREATE ROLE anna LOGIN IN ROLE team; CREATE ROLE \"Bert\" LOGIN IN ROLE team;
         CREATE SCHEMA fathom AUTHORIZATION team",
    );
    let [anna, bert] = ["anna", "Bert"].map(|role| at(&server.address(role, &database)));
    Library::open(&anna).unwrap().save(&run(1)).unwrap();
    let mut library = Library::open(&bert).unwrap();
    library.save(&run(2)).unwrap();
    library.remove(&[Selector::from("1")]).unwrap();
    let owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'fathom'";
    assert_eq!(server.sql(&database, owners), "team");
}

#[test]
fn a_role_that_may_make_nothing_is_told_what_lets_it_in_a_database_without_a_library() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server.sql(&database, "CREATE ROLE guest LOGIN");
    let error = Library::open(&at(&server.address("guest", &database))).unwrap_err();
    assert!(matches!(&error, LibraryError::Rights { .. }), "{error}");
    assert!(error.to_string().contains("CREATE SCHEMA fathom AUTHORIZATION guest"), "{error}");
}

#[test]
fn who_is_not_let_in_and_what_is_not_there_are_told_apart() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server.sql(&database, "CREATE ROLE carla LOGIN PASSWORD 'right' IN ROLE asked");
    let address = |role: &str| server.address(role, &database);
    let refused = |address: &str| Library::open(&at(address)).map(drop).unwrap_err();
    for address in [address("carla"), address("carla:wrong"), address("nobody_here")] {
        let error = refused(&address);
        assert!(matches!(error, LibraryError::NotLetIn { .. }), "{address}: {error}");
        let told = error.to_string();
        assert!(told.contains("PGPASSWORD") && !told.contains("wrong"), "{told}");
    }
    let error = refused(&server.address("postgres", "nothing"));
    assert!(matches!(error, LibraryError::NoDatabase { .. }), "{error}");
    assert!(error.to_string().contains("\"nothing\" does not exist"), "{error}");
    for address in ["postgres://anna:secret@127.0.0.1:1/runs", "postgres://anna:secret@/runs?host=/nowhere"] {
        let error = refused(address);
        assert!(matches!(error, LibraryError::Unreachable { .. }), "{error}");
        assert!(
            !error.to_string().contains("secret") && !format!("{error:?}").contains("secret"),
            "{error:?}"
        );
    }
}

#[test]
fn a_newer_library_on_a_server_is_refused_and_left_alone() {
    let Some(shelf) = Shelf::on_server() else { return };
    shelf.open().save(&run(1)).unwrap();
    shelf.sql("UPDATE version SET version = 99");
    let error = Library::open(shelf.place()).unwrap_err();
    assert!(matches!(error, LibraryError::TooNew { found: 99, known: 4, .. }), "{error}");
    assert_eq!(shelf.number("SELECT version FROM version"), 99);
}

#[test]
fn a_server_that_takes_no_writes_is_read() {
    let Some((server, database, place)) = with_role("standby_reader") else { return };
    server.sql(
        &database,
        "GRANT USAGE ON SCHEMA fathom TO standby_reader;
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA fathom TO standby_reader;
         ALTER ROLE standby_reader SET default_transaction_read_only = on",
    );
    let mut library = Library::open(&place).unwrap();
    same(&library.get("last").unwrap(), &run(1));
    assert!(matches!(library.save(&run(2)).unwrap_err(), LibraryError::Standby { .. }));
}

#[test]
fn a_connection_that_is_lost_is_made_anew_and_a_run_goes_on_growing() {
    let Some(server) = Postgres::own() else { return };
    let database = server.database();
    let place = at(&server.address("postgres", &database));
    let mut library = Library::open(&place).unwrap();
    let (mut growing, mut kept) = (run(1), Kept::default());
    growing.ended = None;
    library.extend(&growing, &mut kept, Durability::Now).unwrap();
    let point = growing.points[0].clone();
    growing.points.push(point.clone());
    server.control("stop");
    let error = library.extend(&growing, &mut kept, Durability::Now).unwrap_err();
    assert!(matches!(error, LibraryError::Unreachable { .. }) && error.is_of_the_server(), "{error}");
    assert!(matches!(library.list(&Filter::default()).unwrap_err(), LibraryError::Unreachable { .. }));
    server.control("start");
    library.extend(&growing, &mut kept, Durability::Now).unwrap();
    same(&library.get("last").unwrap(), &growing);
    // Stopped and started in between, nobody notices.
    server.control("stop");
    server.control("start");
    growing.points.push(point);
    library.extend(&growing, &mut kept, Durability::Later).unwrap();
    same(&library.get("last").unwrap(), &growing);
    assert_eq!(library.check().unwrap(), [] as [String; 0]);
}

#[test]
fn threads_that_save_and_remove_at_once_lose_nothing_and_never_lock_each_other_out() {
    let Some(shelf) = Shelf::on_server() else { return };
    thread::scope(|scope| {
        for first in 0..8 {
            let shelf = &shelf;
            scope.spawn(move || {
                let mut library = shelf.open();
                let runs: Vec<_> = (0..25).map(|turn| run(first * 25 + turn)).collect();
                for run in &runs {
                    library.save(run).unwrap();
                }
                // In another order than they were saved, two at a time.
                for pair in runs.chunks(2).rev() {
                    let removed: Vec<Selector> =
                        pair.iter().map(|run| Selector::Id(run.id.clone())).collect();
                    library.remove(&removed).unwrap();
                }
                for run in &runs {
                    library.save(run).unwrap();
                }
            });
        }
    });
    let library = shelf.open();
    let entries = library.list(&Filter::default()).unwrap();
    let ids: std::collections::BTreeSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!((entries.len(), ids.len()), (200, 200));
    assert_eq!(library.check().unwrap(), [] as [String; 0]);
}

#[test]
fn a_long_list_comes_in_pieces_and_only_as_far_as_it_is_wanted() {
    let Some(shelf) = Shelf::on_server() else { return };
    shelf.open().save(&run(0)).unwrap();
    shelf.sql(
        "INSERT INTO runs (id, started, plan, world, hostname, targets, tags, points, warnings, invalid, complete, code,
             reason, json_bytes)
         SELECT 'copy-' || i, started, plan, world, hostname, targets, tags, points, warnings, invalid, complete, code,
             reason, json_bytes FROM runs, generate_series(1, 1200) i",
    );
    let library = shelf.open();
    let listed = library.survey(&Filter::default()).unwrap();
    // Nobody has summed the copies.
    assert_eq!((listed.entries.len(), listed.damaged.len(), listed.lost), (1, 1_200, 0));
    let first = library.survey(&Filter { limit: Some(0), ..Filter::default() }).unwrap();
    assert_eq!((first.entries.len(), first.damaged.len()), (0, 0));
}
