/* list.h - the tasks, in the order of enum task. A line stands for the folder common/task/<name>/, whose parts are
 * linked into different libraries: text.c (what a stage says), stage.h (what only its stages have) and bounds.c (how its
 * answers are bounded, what they cost and take) into job, answer.c (what an agent computes) into task_answer, close.c
 * (what the sum becomes) into task_close. A new task is a folder and a line here. */

#ifndef TASK_LIST_H
#define TASK_LIST_H

#define TASK_LIST(X)                                                                               \
    X(FIT, fit)                                                                                    \
    X(LEARN, learn)                                                                                \
    X(LOSSES, losses)                                                                              \
    X(ONLINE, online)                                                                              \
    X(PREDICT, predict)                                                                            \
    X(QUERY, query)                                                                                \
    X(SELECT, select)                                                                              \
    X(STATISTICS, statistics)                                                                      \
    X(UPDATE, update)

#endif
