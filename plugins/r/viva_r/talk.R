# What the two R kernels of a submission say to each other: a line of JSON is a question, another one its answer.
# Values are trees: their type, the plain values, and trees of their attributes. Texts stand behind "=", so that a
# reader of JSON takes none of them for a number or for NA; numbers are hexadecimal, which is exact.
local({
  kinds <- c(logical = "lgl", integer = "int", double = "dbl", complex = "cpl", character = "chr", raw = "raw", list = "list")
  deepest <- 40L
  longest <- 2e6
  odd <- function(what) stop(structure(class = c("viva_odd", "error", "condition"), list(message = what, call = NULL)))
  marked <- function(texts) {
    found <- paste0("=", texts)[seq_along(texts)]
    found[is.na(texts)] <- NA_character_
    found
  }
  exact <- function(numbers) {
    texts <- sprintf("%a", numbers)
    texts[is.na(numbers) & !is.nan(numbers)] <- NA_character_
    marked(texts)
  }
  # The next message: its length in ten digits, and its text. A line would be read byte by byte.
  heard <- function(from) {
    some <- function(count) {
      found <- raw()
      while (length(found) < count) {
        part <- readBin(from, "raw", count - length(found))
        if (!length(part)) stop("nobody speaks")
        found <- c(found, part)
      }
      rawToChar(found)
    }
    some(as.integer(some(10L)))
  }
  encode <- function(x, keep, depth = 0L) {
    if (is.null(x)) return(list(t = "null"))
    if (is.function(x)) return(keep(x))
    type <- typeof(x)
    if (isS4(x) || !(type %in% names(kinds))) odd(paste0("a value of the class '", class(x)[1], "'"))
    about <- attributes(x)
    attributes(x) <- NULL
    if (depth > deepest || length(x) > longest) odd("a value that is too large")
    plain <- switch(type,
      logical = as.integer(x), raw = as.integer(x), integer = x,
      double = exact(x), complex = exact(c(Re(x), Im(x))),
      character = marked(iconv(enc2utf8(x), "UTF-8", "UTF-8", sub = "byte")),
      list = lapply(x, encode, keep, depth + 1L))
    tree <- list(t = kinds[[type]], v = I(plain))
    for (name in names(about)) {
      part <- tryCatch(encode(about[[name]], function(f) odd("a function"), depth + 1L), viva_odd = function(e) NULL)
      if (!is.null(part)) tree$a[[name]] <- part
    }
    tree
  }
  decode <- function(tree, made) {
    plain <- tree[["v"]]
    words <- function() substring(as.character(unlist(plain)), 2L)
    x <- switch(tree[["t"]],
      null = return(NULL), fun = , pkg = return(made(tree)),
      lgl = as.logical(unlist(plain)), int = as.integer(unlist(plain)), raw = as.raw(unlist(plain)),
      dbl = as.numeric(words()), chr = words(),
      cpl = { parts <- as.numeric(words()); half <- length(parts) / 2
        complex(real = parts[seq_len(half)], imaginary = parts[half + seq_len(half)]) },
      list = lapply(plain, decode, made))
    about <- tree[["a"]]
    for (name in names(about)) attr(x, name) <- decode(about[[name]], made)
    if (inherits(x, "tbl_df")) requireNamespace("tibble", quietly = TRUE)
    x
  }
  read <- function(line) jsonlite::fromJSON(line, simplifyDataFrame = FALSE, simplifyMatrix = FALSE)
  write <- function(what) as.character(jsonlite::toJSON(what, auto_unbox = TRUE, null = "null", na = "null"))

  # The candidate answers about its names, and calls its functions.
  candidate <- function(from, to) {
    kept <- list()
    last <- list()
    keep <- function(f) {
      kept[[length(kept) + 1L]] <<- f
      list(t = "fun", v = length(kept))
    }
    made <- function(tree) {
      if (tree[["t"]] == "fun") return(kept[[tree[["v"]]]])
      parts <- strsplit(tree[["v"]], "::", fixed = TRUE)[[1]]
      get(parts[2], envir = asNamespace(parts[1]))
    }
    asked <- function(question) {
      if (question[["do"]] == "get") return(get(question[["name"]], envir = globalenv(), inherits = FALSE))
      f <- kept[[question[["handle"]]]]
      name <- question[["name"]]
      if (nzchar(name) && identical(get0(name, globalenv(), mode = "function"), f)) f <- as.name(name)
      eval(as.call(c(list(f), decode(question[["args"]], made))), globalenv())
    }
    answer <- function(line) {
      question <- read(line)
      if (question[["do"]] == "names") {
        known <- vapply(question[["names"]], exists, NA, envir = globalenv(), inherits = FALSE)
        return(list(names = I(as.character(question[["names"]][known]))))
      }
      if (!is.null(question[["seed"]])) assign(".Random.seed", as.integer(question[["seed"]]), globalenv())
      signals <- list()
      noted <- function(kind, restart) function(signal) {
        signals[[length(signals) + 1L]] <<- list(kind, conditionMessage(signal))
        invokeRestart(restart)
      }
      shown <- rawConnection(raw(), "w")
      sinks <- sink.number()
      sink(shown)
      on.exit({ while (sink.number() > sinks) sink(); close(shown) })
      reply <- withCallingHandlers(
        tryCatch(list(value = encode(asked(question), keep)),
          viva_odd = function(e) list(odd = conditionMessage(e)),
          error = function(e) list(error = list(message = conditionMessage(e), classes = I(class(e))))),
        warning = noted("warning", "muffleWarning"), message = noted("message", "muffleMessage"))
      while (sink.number() > sinks) sink()
      c(reply, list(signals = I(signals), printed = rawToChar(rawConnectionValue(shown))))
    }
    serve <- function() {
      questions <- fifo(from, "rb", blocking = TRUE)
      answers <- fifo(to, "w", blocking = TRUE)
      on.exit({ close(questions); close(answers) })
      repeat {
        line <- heard(questions)
        if (!nzchar(line)) return(invisible())
        reply <- tryCatch(write(answer(line)),
          error = function(e) write(list(odd = paste("a value that cannot be read:", conditionMessage(e)))),
          interrupt = function(e) '{"interrupted": true}')
        writeLines(reply, answers)
      }
    }
    # The names whose values are others than when it was asked last; all of the course's own solution.
    changed <- function() {
      now <- mget(ls(globalenv(), all.names = TRUE), envir = globalenv())
      now <- now[names(now) != ".Random.seed"]
      fresh <- vapply(names(now), function(name) !(name %in% names(last)) || !identical(now[[name]], last[[name]]), NA)
      last <<- now
      cat(write(I(as.character(names(now)[fresh]))))
    }
    # What the visible lines of a test load and define, for the cells below.
    define <- function(text) {
      loads <- c("library", "require", "suppressPackageStartupMessages", "suppressMessages", "suppressWarnings")
      for (part in tryCatch(parse(text = text), error = function(e) NULL)) {
        if (!is.call(part)) next
        bound <- as.character(part[[1]])[1] %in% c("<-", "=") && is.name(part[[2]]) && is.call(part[[3]])
        helper <- bound && identical(part[[3]][[1]], as.name("function")) && !exists(as.character(part[[2]]), globalenv())
        library <- as.character(part[[1]])[1] %in% loads && any(all.names(part) %in% c("library", "require"))
        if (helper || library) try(eval(part, globalenv()), silent = TRUE)
      }
    }
    base <- function(names) {
      known <- vapply(names, exists, NA, envir = parent.env(globalenv()), mode = "function")
      cat(write(I(as.character(names[known]))))
    }
    list(serve = serve, changed = changed, define = define, base = base)
  }

  # The examiner asks: a name of the student's is an active binding, a function of theirs one that asks.
  examiner <- function(from, to) {
    questions <- fifo(to, "w", blocking = TRUE)
    answers <- fifo(from, "rb", blocking = TRUE)
    seed <- NULL
    cache <- new.env()
    bound <- new.env()
    ask <- function(question, call = NULL) {
      now <- get0(".Random.seed", globalenv(), inherits = FALSE)
      if (!is.null(now) && !identical(now, seed)) question$seed <- I(now)
      seed <<- now
      writeLines(write(question), questions)
      reply <- read(heard(answers))
      cat(reply[["printed"]])
      for (signal in reply[["signals"]]) {
        if (signal[[1]] == "warning") warning(simpleWarning(signal[[2]], call)) else message(signal[[2]], appendLF = FALSE)
      }
      if (!is.null(fault <- reply[["error"]])) {
        stop(structure(class = as.character(fault[["classes"]]), list(message = fault[["message"]], call = call)))
      }
      decode(reply[["value"]], function(tree) proxy(tree[["v"]], if (question[["do"]] == "get") question[["name"]] else ""))
    }
    # To R everything holds of nothing: all(NULL == 4) is TRUE. Where a test has looked at nothing, that is told; the
    # names of the student's in the call say whose. Packages do not see these functions, tests do.
    told <- function(...) {
      if (any(lengths(list(...)) > 0L)) return()
      call <- sys.call(-1L)
      if (identical(call, quote(all(r)))) call <- sys.call(-2L)
      about <- c(intersect(all.names(call), ls(bound, all.names = TRUE)), "")[1]
      writeLines(write(list(do = "nothing", name = about)), questions)
    }
    noting <- list(
      all = function(..., na.rm = FALSE) { found <- base::all(..., na.rm = na.rm); told(...); found },
      any = function(..., na.rm = FALSE) { found <- base::any(..., na.rm = na.rm); told(...); found },
      stopifnot = stopifnot)
    environment(noting$stopifnot) <- list2env(noting["all"], parent = baseenv())
    attach(noting, pos = length(search()), name = "viva", warn.conflicts = FALSE)
    packaged <- function(f) {
      for (name in names(noting)) if (identical(f, noting[[name]])) return(paste0("base::", name))
      for (package in c("base", "stats")) {
        place <- asNamespace(package)
        for (name in ls(place)) if (identical(f, get(name, envir = place))) return(paste0(package, "::", name))
      }
      odd("a function of the test")
    }
    keep <- function(f) {
      handle <- if (is.environment(environment(f))) get0("viva_handle", environment(f), inherits = FALSE)
      if (is.null(handle)) list(t = "pkg", v = packaged(f)) else list(t = "fun", v = handle)
    }
    proxy <- function(viva_handle, name) {
      force(viva_handle)
      force(name)
      function(...) {
        rm(list = ls(cache), envir = cache)
        ask(list(do = "call", name = name, handle = viva_handle, args = encode(list(...), keep)), sys.call())
      }
    }
    value <- function(name) {
      if (!exists(name, cache, inherits = FALSE)) assign(name, ask(list(do = "get", name = name)), cache)
      get(name, cache)
    }
    student <- function(name) {
      force(name)
      own <- NULL
      assigned <- FALSE
      function(new) {
        if (!missing(new)) {
          own <<- new
          assigned <<- TRUE
        }
        if (assigned) own else value(name)
      }
    }
    begin <- function(fresh, present) {
      rm(list = ls(cache), envir = cache)
      seed <<- get0(".Random.seed", globalenv(), inherits = FALSE)
      here <- function(name) exists(name, globalenv(), inherits = FALSE)
      for (name in fresh) {
        assign(name, TRUE, bound)
        if (here(name)) rm(list = name, envir = globalenv())
      }
      for (name in ls(bound, all.names = TRUE)) {
        if (name %in% present) {
          if (!here(name)) makeActiveBinding(name, student(name), globalenv())
        } else if (here(name) && bindingIsActive(name, globalenv())) rm(list = name, envir = globalenv())
      }
    }
    list(begin = begin)
  }
  list(candidate = candidate, examiner = examiner)
}, envir = new.env(parent = baseenv()))
