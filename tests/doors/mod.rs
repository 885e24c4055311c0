//! The classic tools' command lines, each read back by a parser that is written from the tool's own documents,
//! not from what writes it here.

mod bonnie;
mod dd;
mod diskspd;
mod fio;
mod hdparm;
mod iometer;
mod iozone;
mod orion;
mod refusals;
mod seeker;
mod sqlio;
