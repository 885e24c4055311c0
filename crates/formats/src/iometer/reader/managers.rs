//! The managers of a configuration file, with their workers, what these were assigned and their targets.

use super::{MOST_DEPTH, Reader};
use crate::Refusal;
use crate::iometer::config::{DiskWorker, Manager};
use crate::iometer::lines::{Line, fields};

impl Reader<'_> {
    pub(super) fn managers(&mut self) -> Result<(), Refusal> {
        while !self.ends("end manager list") {
            let Some(line) = self.lines.take_text() else { break };
            if line.key() != "manager id,manager name" {
                let what = format!("expected a manager, got `{}`", line.text);
                return Err(self.lines.wrong(line, what));
            }
            self.manager()?;
        }
        Ok(())
    }

    fn manager(&mut self) -> Result<(), Refusal> {
        let head = self.lines.value();
        let name = head.text.split_once(',').map_or(head.text, |(_, name)| name).trim();
        let mut manager = Manager { name: name.into(), workers: Vec::new() };
        while let Some(line) = self.lines.before("End manager")? {
            match line.key().as_str() {
                "manager network address" => {
                    self.lines.value();
                }
                "worker" => {
                    self.workers += 1;
                    self.check_room(line, self.workers, "workers")?;
                    manager.workers.push(self.worker()?);
                }
                _ => return Err(self.lines.no_key(line, "a manager")),
            }
        }
        self.config.managers.push(manager);
        Ok(())
    }

    fn worker(&mut self) -> Result<DiskWorker, Refusal> {
        let head = self.lines.value();
        let mut worker = DiskWorker { name: head.text.into(), ..DiskWorker::PLAIN };
        while let Some(line) = self.lines.before("End worker")? {
            match line.key().as_str() {
                "worker type" => self.worker_type(&worker.name)?,
                "default target settings for worker" => self.settings(&mut worker)?,
                "assigned access specs" => worker.specs = Some(self.assigned()?),
                "target assignments" => self.targets(&mut worker)?,
                _ => return Err(self.lines.no_key(line, "a worker")),
            }
        }
        Ok(worker)
    }

    fn worker_type(&mut self, name: &str) -> Result<(), Refusal> {
        let value = self.lines.value();
        self.disk(value, &format!("worker `{name}`"))
    }

    /// That a type is that of disks.
    fn disk(&self, value: Line<'_>, who: &str) -> Result<(), Refusal> {
        match fields(value.text).first().map(|word| word.to_uppercase()).as_deref() {
            Some("DISK") => Ok(()),
            Some("NETWORK" | "TCP" | "VI" | "NET") => {
                let what = format!(
                    "{who} is of type {}, which sends to other hosts over a network; Fathom measures storage, so \
                     only workers and targets of type DISK are supported: leave it out",
                    value.text
                );
                Err(self.lines.wrong(value, what))
            }
            _ => Err(self
                .lines
                .wrong(value, format!("{who} has the type `{}`; DISK is supported", value.text))),
        }
    }

    fn settings(&mut self, worker: &mut DiskWorker) -> Result<(), Refusal> {
        while let Some(line) = self.lines.before("End default target settings for worker")? {
            let key = line.key();
            let value = self.lines.value();
            if key.starts_with("number of outstanding ios") {
                self.outstanding(value, worker)?;
            } else if key.starts_with("disk maximum size") {
                self.extent(value, worker)?;
                // Before 1.1 was finished it was a switch: one byte repeated, or random bytes.
                if key.contains("random data") {
                    worker.data = worker.data.map(|data| if data == 0 { 0 } else { 2 });
                }
            } else if key != "local network interface" && key != "vi outstanding ios" {
                return Err(self.lines.no_key(line, "a worker's settings"));
            }
        }
        Ok(())
    }

    /// Outstanding I/Os, connection rate, transactions of a connection, fixed seed and its value.
    fn outstanding(&self, value: Line<'_>, worker: &mut DiskWorker) -> Result<(), Refusal> {
        let columns = fields(value.text);
        let column = |index: usize| columns.get(index).copied().unwrap_or_default();
        worker.depth = match column(0).parse() {
            Ok(depth @ 1..=MOST_DEPTH) => depth,
            _ => {
                let what = format!("`{}` outstanding I/Os: from 1 to {MOST_DEPTH}", column(0));
                return Err(self.lines.wrong(value, what));
            }
        };
        if self.switch(value, column(1))? {
            let every: u64 = self.number(value, column(2))?;
            let every = u32::try_from(every).map_err(|_| {
                self.lines.wrong(value, format!("{every} transactions of a connection: at most {}", u32::MAX))
            })?;
            // None is one connection for the whole test.
            worker.reopen_every = Some(every).filter(|every| *every > 0);
        }
        if self.switch(value, column(3))? {
            worker.seed = Some(self.number(value, column(4))?);
        }
        Ok(())
    }

    fn extent(&self, value: Line<'_>, worker: &mut DiskWorker) -> Result<(), Refusal> {
        let columns = fields(value.text);
        let column = |index: usize| columns.get(index).copied().unwrap_or("0");
        worker.sectors = self.number(value, column(0))?;
        worker.first_sector = self.number(value, column(1))?;
        if worker.sectors.max(worker.first_sector) > u64::MAX / 1024 {
            return Err(self.lines.wrong(value, "so many sectors are on no disk"));
        }
        if let Some(text) = columns.get(2) {
            worker.data = match (text.parse(), self.switch(value, text)) {
                (Ok(data @ 0..=2), _) => Some(data),
                (_, Ok(is_random)) => Some(u32::from(is_random)),
                _ => {
                    return Err(self.lines.wrong(
                        value,
                        format!(
                            "`{text}` is not a data pattern: 0, 1 or \
                                                                 2"
                        ),
                    ));
                }
            };
        }
        Ok(())
    }

    fn assigned(&mut self) -> Result<Vec<(String, usize)>, Refusal> {
        let mut names = Vec::new();
        loop {
            let line = self.lines.more("End assigned access specs")?;
            match line.is_key() {
                true if line.key() == "end assigned access specs" => return Ok(names),
                true => {
                    let what = format!("expected the name of an access specification, got `{}`", line.text);
                    return Err(self.lines.wrong(line, what));
                }
                false => {
                    self.assigned += 1;
                    self.check_room(line, self.assigned, "assigned access specifications")?;
                    names.push((line.text.to_owned(), line.number));
                }
            }
        }
    }

    fn targets(&mut self, worker: &mut DiskWorker) -> Result<(), Refusal> {
        while let Some(line) = self.lines.before("End target assignments")? {
            match line.key().as_str() {
                "target" => self.target(worker)?,
                _ => {
                    return Err(self.lines.wrong(line, format!("expected a target, got `{}`", line.text)));
                }
            }
        }
        Ok(())
    }

    fn target(&mut self, worker: &mut DiskWorker) -> Result<(), Refusal> {
        let name = self.lines.value();
        if name.text.is_empty() {
            return Err(self.lines.wrong(name, "the target has no name"));
        }
        while let Some(line) = self.lines.before("End target")? {
            match line.key().as_str() {
                "target type" => {
                    let value = self.lines.value();
                    self.disk(value, &format!("target `{}`", name.text))?;
                }
                "target manager id,manager name" => {
                    self.lines.value();
                }
                _ => return Err(self.lines.no_key(line, "a target")),
            }
        }
        self.targets += 1;
        self.check_room(name, self.targets, "targets")?;
        worker.targets.push(name.text.into());
        Ok(())
    }
}
