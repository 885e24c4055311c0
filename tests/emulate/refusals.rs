//! What a tool's door does not serve is refused by name, with exit code 2 (fio's with 1, as fio) and nothing touched.

use crate::support::User;

/// A command line, and what its refusal says.
const LINES: &[(&str, &[&str])] = &[
    ("dd if=/dev/zero of=x oflga=direct", &["there is no option `oflga`", "did you mean `oflag`"]),
    ("dd if=/dev/zero of=x count=1 conv=lcase", &["`conv=lcase` is not supported", "leave it out"]),
    ("dd if=/dev/zero of=x bs=4x", &["`bs` does not take `4x`", "such as 64k"]),
    ("dd if=a of=b", &["dd"]),
    ("hdparm -W1 x", &["`-W1` is not supported", "changes the drive"]),
    ("hdparm --security-erase x y", &["`--security-erase` is not supported"]),
    ("seeker", &["usage: seeker DEVICE"]),
    ("iozone -t 2 -s 1m -r 64k -Q", &["`-Q` is not supported", "single stream"]),
    ("iozone -t 2 -+m hosts", &["`-+m` is not supported", "one machine"]),
    ("iozone -t 2 -s 1m -r 64k -X trace", &["`-X` is not supported", "single stream"]),
    ("iozone -s 1m -B -X trace", &["-X", "leave `-B`"]),
    ("iozone -%", &["there is no option `-%`"]),
    ("ior -a MPIIO", &["`-a MPIIO` is not supported", "POSIX"]),
    ("ior -w -b 10 -t 3", &["no multiple"]),
    ("mdtest -n 1 -W 3 -S", &["`-W` counts the files that each task makes"]),
    ("mdtest -d x", &["`-n ITEMS` of each task"]),
    ("orion -run simple -testname t -num_disk 4", &["did you mean `-num_disks`"]),
    ("orion -run simple -testname t -storax oss", &["`-storax oss` is not supported", "skgfr"]),
    ("sqlio -kR -v1.1.1 x", &["`-v1.1.1` is not supported"]),
    ("sqlio -kR -mC -o4 x", &["`-o` contradicts it"]),
    ("sqlio -kR -t3 x", &["3 threads do not divide 64 columns"]),
    ("diskspd -c1M -yrevent x", &["`-yrevent` is not supported", "script"]),
    (
        "diskspd -c1M -d1 C:\\io.dat",
        &["C:\\io.dat begins with a drive letter of Windows", "/mnt/test/io.dat"],
    ),
    ("sqlio -kW -s1 c:\\t.dat", &["c:\\t.dat begins with a drive letter of Windows", "/mnt/test/t.dat"]),
    ("diskspd -c1M -N x", &["`-N` is not supported"]),
    ("iometer /x", &["there is no option `/x`"]),
    ("iometer /c none.icf /r r.csv", &["none.icf", "cannot be read"]),
    ("dynamo -i host", &["dynamo"]),
    ("bonnie++ -Z missing -s 0 -u root", &["Can't open random file", "missing"]),
    ("bonnie++ -K", &["there is no option `-K`"]),
    ("bonnie -n 1:-1 -s 0 -u root", &["-n"]),
    ("fio --name=a --size=1m --iodeth=4", &["did you mean `iodepth`"]),
    ("fio --name=a --size=1m --rw=trim --zonemode=zbd --zonesize=64k", &["`zonemode=zbd` is not supported"]),
    ("fio --name=a --size=1m --nice=50", &["nice", "from -20 to 19"]),
    ("fio --name=a --size=1m --nice=5 --name=b --size=1m", &["equally nice"]),
    ("fio --name=a --size=1m --ioengine=sg", &["engine = \"sg\"", "no block device"]),
    ("fio --name=a --size=1m --ioengine=io_uring_cmd", &["engine = \"nvme\"", "no block device"]),
    ("fio --name=a --size=1m --readfua=1", &["`readfua=1` is not supported", "ioengine=sg"]),
    ("fio --name=a --size=1m --ioengine=rados", &["`ioengine=rados` is not supported", "rbd map"]),
];

/// The exit code of a refusal: fio's scripts read fio's own.
fn refused(line: &str) -> i32 {
    if line.trim_start_matches("as ").starts_with("fio ") { 1 } else { 2 }
}

#[test]
fn what_no_door_serves_is_refused_by_name_and_touches_nothing() {
    let user = User::new();
    for (line, words) in LINES {
        let ended = user.fathom(&format!("as {line}")).with(refused(line)).saying(words);
        assert!(ended.out.is_empty(), "{line}: {}", ended.out);
        assert!(user.files().is_empty(), "{line}: {:?}", user.files());
    }
}

#[test]
fn a_mistake_in_a_job_file_names_file_and_line_and_touches_nothing() {
    let user = User::new();
    for (line, name, text, words) in [
        ("run a.fio", "a.fio", "[a]\nsize=1m\nrw=sideways\n", ["a.fio:3", "rw=sideways"]),
        ("as fio b.fio", "b.fio", "[a]\nsize=1m\n\nfdp=1\n", ["b.fio:4", "fdp=1"]),
        (
            "run c.icf",
            "c.icf",
            "Version 2006.07.27 \n'TEST SETUP ====\n'Run Time\n\tx 0 0\n",
            ["c.icf:4", "hours"],
        ),
        ("as sqlio -kR -frandom -Fparam.txt", "param.txt", "a 1\nx 2 0x0 zz\n", ["param.txt:2", "zz"]),
    ] {
        user.write(name, text);
        user.fathom(line).with(refused(line)).saying(&words);
        std::fs::remove_file(user.path(name)).unwrap();
        assert!(user.files().is_empty(), "{name}: {:?}", user.files());
    }
}

#[test]
fn results_given_for_a_job_are_refused_as_what_they_are() {
    let user = User::new();
    user.write("results.csv", "'Test Type,Test Description\n0,random reads\n'Version\n1.1.0\n");
    for line in ["run results.csv --on array:px6-300d", "plan convert results.csv"] {
        user.fathom(line).with(2).saying(&["results.csv", "results of Iometer", "give the job file"]);
    }
}
