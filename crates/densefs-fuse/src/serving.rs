//! The threads that answer the kernel.

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use densefs::Errno;

use crate::answer::Answer;
use crate::channel::Channel;
use crate::locks::{Turn, Turns};
use crate::negotiation::WRITE_MAX;
use crate::protocol::{Reply, Request, operation};
use crate::server::FuseServer;

/// Room for what a request has before the bytes of a write.
const HEADERS_MAX: usize = 4096;

impl FuseServer {
    /// Answers all requests, until there are no more.
    pub(crate) fn answer_all(&self, channel: &Arc<Channel>) -> io::Result<()> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let turns = Turns::new(threads);
        let answered = thread::scope(|scope| {
            let answering: Vec<_> = (0..threads)
                .map(|number| {
                    let turns = &turns;
                    let act = move || self.answer_in_turn(channel, turns, number);
                    thread::Builder::new().spawn_scoped(scope, act)
                })
                .collect();
            // By joining them one by one: a scope does not wait until they have left the arena.
            let panicked = |_| Err(io::Error::other("a thread that serves has panicked"));
            let ended = answering.into_iter().map(|one| one?.join().unwrap_or_else(panicked));
            ended.fold(Ok(()), io::Result::and)
        });
        self.waits.end_all();
        answered
    }

    fn answer_in_turn(
        &self,
        channel: &Arc<Channel>,
        turns: &Turns,
        number: usize,
    ) -> io::Result<()> {
        let mut buffer = vec![0; WRITE_MAX as usize + HEADERS_MAX];
        let turn = turns.of_thread(number);
        loop {
            let Some(request) = channel.next(&mut buffer)? else { return Ok(()) };
            if let Some(counts) = self.counts.filter(|_| request.process != 0) {
                counts.note_request(request.process);
            }
            turn.begin();
            let (unique, is_last) = (request.unique, request.operation == operation::DESTROY);
            match self.answer(&request, channel, turn) {
                Ok(Answer::Now(reply)) => channel.answer(unique, Ok(reply)),
                Ok(Answer::NotNow) => {}
                Err(why) => channel.answer(unique, Err(why)),
            }
            turn.end();
            if is_last {
                return Ok(());
            }
        }
    }

    fn answer(
        &self,
        request: &Request<'_>,
        channel: &Arc<Channel>,
        turn: Turn<'_>,
    ) -> Result<Answer, Errno> {
        let reply = match request.operation {
            operation::LOOKUP => self.lookup(request),
            operation::FORGET => return Ok(self.forget(request)),
            operation::BATCH_FORGET => return Ok(self.forget_several(request)),
            operation::GETATTR => self.attributes(request),
            operation::SETATTR => self.set_attributes(request),
            operation::READLINK => self.read_link(request),
            operation::SYMLINK => self.make_symlink(request),
            operation::MKNOD => self.make_node(request),
            operation::MKDIR => self.make_directory(request),
            operation::UNLINK => self.remove(request, densefs::Remove::Name),
            operation::RMDIR => self.remove(request, densefs::Remove::Directory),
            operation::RENAME | operation::RENAME2 => self.rename(request),
            operation::LINK => self.link(request),
            operation::OPEN => self.open(request),
            operation::CREATE => self.create(request),
            operation::READ => self.read(request),
            operation::WRITE => self.write(request),
            operation::STATFS => self.usage(),
            operation::FLUSH => self.flush(request),
            operation::RELEASE => self.release(request),
            operation::SETXATTR => self.set_extended(request),
            operation::GETXATTR => self.extended(request),
            operation::LISTXATTR => self.extended_names(request),
            operation::REMOVEXATTR => self.remove_extended(request),
            operation::FALLOCATE => self.change_space(request),
            operation::LSEEK => self.look_for(request),
            // Directories need not be opened: each listing says where it begins.
            operation::OPENDIR => Ok(Reply::opened(0)),
            operation::READDIR => self.list(request),
            operation::RELEASEDIR | operation::FSYNC | operation::FSYNCDIR | operation::DESTROY => {
                Ok(Reply::empty())
            }
            operation::GETLK => self.conflicting_lock(request, turn),
            operation::SETLK => return self.set_lock(request, channel, turn),
            operation::SETLKW => return self.set_lock_or_wait(request, channel),
            operation::INTERRUPT => return Ok(self.interrupt(request)),
            _ => Err(Errno::NOSYS),
        };
        reply.map(Answer::Now)
    }
}
