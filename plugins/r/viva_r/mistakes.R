# Wrong versions of a solution in R, made from its syntax tree: a function of a text that prints them as JSON. Nothing
# of the text is evaluated.
function(text) {
  swapped <- c("+" = "-", "-" = "+", "*" = "/", "/" = "*", "^" = "*", "%%" = "%/%", "%/%" = "%%", "<" = "<=", "<=" = "<",
    ">" = ">=", ">=" = ">", "==" = "!=", "!=" = "==", "&&" = "||", "||" = "&&", "&" = "|", "|" = "&")
  confused <- c(mean = "median", median = "mean", sum = "mean", min = "max", max = "min", pmin = "pmax", pmax = "pmin",
    ceiling = "floor", floor = "ceiling", round = "floor", any = "all", all = "any", which.max = "which.min",
    which.min = "which.max", nrow = "ncol", ncol = "nrow", union = "intersect", intersect = "union", sd = "var",
    var = "sd", rowSums = "colSums", colSums = "rowSums", rowMeans = "colMeans", colMeans = "rowMeans", head = "tail",
    tail = "head", cumsum = "cumprod", cumprod = "cumsum", left_join = "inner_join", inner_join = "left_join",
    order = "rank", sort = "rev", toupper = "tolower", tolower = "toupper", rbind = "cbind", cbind = "rbind")
  verbs <- c("filter", "arrange", "select", "mutate", "group_by", "distinct", "drop_na", "summarise", "summarize",
    "slice", "ungroup", "na.omit", "unique", "sort", "rev", "abs", "round", "trimws", "tolower", "toupper")
  bodies <- c("{", "if", "for", "while", "function", "repeat")
  shown <- c("print", "cat", "message", "library", "require", "suppressPackageStartupMessages", "stop", "warning")
  head_of <- function(e) if (is.call(e) && is.name(e[[1]])) as.character(e[[1]]) else ""

  # What could stand in place of one node, by the name of the mistake; of its parts others tell.
  others <- function(e) {
    found <- list()
    add <- function(mistake, new) found[[length(found) + 1L]] <<- list(mistake, new)
    if (is.numeric(e) && length(e) == 1L && is.finite(e)) add("other constant", if (is.integer(e)) e + 1L else e + 1)
    if (is.logical(e) && length(e) == 1L && !is.na(e)) add("TRUE and FALSE", !e)
    if (!is.call(e)) return(found)
    name <- head_of(e)
    if (name %in% names(swapped) && length(e) == 3L) {
      new <- e
      new[[1]] <- as.name(swapped[[name]])
      compares <- name %in% c("<", "<=", ">", ">=")
      add(if (compares) "boundary" else "other operator", new)
      if (compares) {
        new[[1]] <- as.name(c("<" = ">", "<=" = ">=", ">" = "<", ">=" = "<=")[[name]])
        add("other direction", new)
      }
      if (name %in% c("-", "/")) add("operands swapped", as.call(list(e[[1]], e[[3]], e[[2]])))
    }
    if (name %in% c("!", "-") && length(e) == 2L) add("negation left out", e[[2]])
    if (name == ":" && length(e) == 3L) add("boundary", call(":", e[[2]], call("(", call("-", e[[3]], 1))))
    if (name == "seq_along") add("boundary", call("[", e, -1))
    if (name == "seq_len") add("boundary", as.call(list(e[[1]], call("-", e[[2]], 1))))
    if (name %in% names(confused)) {
      new <- e
      new[[1]] <- as.name(confused[[name]])
      add("other function", new)
    }
    if ("na.rm" %in% names(e)) add("na.rm", e[names(e) != "na.rm"])
    if (name == "if") {
      add("if left out", e[[3]])
      if (length(e) == 4L) add("if left out", e[[4]])
    }
    if (name %in% c("%>%", "|>")) add("step left out", e[[2]])
    if (name %in% verbs && length(e) >= 2L) add("step left out", e[[2]])
    found
  }
  lines_of <- function(reference) c(reference[1], reference[3])

  made <- list()
  # Every mistake in every part of a statement; `put` makes the statement with something else in place of the part.
  walk <- function(e, put, line, owner, step = FALSE) {
    if (missing(e) || is.null(e)) return()
    for (each in others(e)) if (!(step && each[[1]] == "step left out")) made[[length(made) + 1L]] <<- list(each[[1]], line, owner, put(each[[2]]))
    if (!is.call(e)) return()
    name <- head_of(e)
    if (name %in% shown || name == "~" || name == "::") return()
    if (name == "function") {
      return(walk(e[[3]], function(new) { whole <- e; whole[[3]] <- new; put(whole) }, line, owner))
    }
    references <- attr(e, "srcref")
    assigns <- name %in% c("<-", "=", "<<-")
    skipped <- c(1L, if (assigns && is.name(e[[2]])) 2L, if (name %in% c("$", "@")) 3L, if (name == "for") 2L)
    for (index in setdiff(seq_along(e), skipped)) {
      part <- e[[index]]
      if (identical(part, quote(expr = ))) next
      if (identical(names(e)[index], "na.rm")) next
      here <- if (name == "{" && length(references) >= index) references[[index]][1] else line
      local({
        place <- index
        walk(part, function(new) { whole <- e; whole[[place]] <- new; put(whole) }, here, owner,
          name == "%>%" && place == 3L)
        branch <- head_of(part) == "if" && length(part) == 3L
        changes <- head_of(part) %in% c("<-", "=") && is.call(part[[2]])
        if (name == "{" && (branch || changes) && length(e) > 2L) {
          made[[length(made) + 1L]] <<- list("statement left out", here, owner, put(e[-place]))
        }
      })
    }
  }
  written <- function(e) {
    paste(deparse(e, width.cutoff = 100L, control = c("keepNA", "keepInteger", "digits17")), collapse = "\n")
  }
  plain <- function(e) {  # without the text that it came from, which deparse would show
    if (!is.call(e)) return(e)
    attr(e, "srcref") <- attr(e, "srcfile") <- attr(e, "wholeSrcref") <- NULL
    if (head_of(e) == "function") e <- e[1:3]
    for (index in seq_along(e)) {
      part <- e[[index]]
      if (!identical(part, quote(expr = )) && is.call(part)) e[[index]] <- plain(part)
    }
    e
  }

  parsed <- tryCatch(parse(text = text, keep.source = TRUE), error = function(e) expression())
  texts <- vapply(attr(parsed, "srcref"), function(reference) paste(as.character(reference), collapse = "\n"), "")
  with <- function(index, new) { all <- texts; all[index] <- new; paste(all, collapse = "\n") }
  mutants <- list()
  bound <- list()
  for (index in seq_along(parsed)) {
    e <- parsed[[index]]
    assigns <- head_of(e) %in% c("<-", "=", "<<-", "->") && is.name(e[[2]])
    owner <- if (assigns) as.character(e[[2]]) else ""
    if (assigns) bound[[owner]] <- head_of(e[[3]]) == "function"
    made <- list()
    line <- attr(parsed, "srcref")[[index]][1]
    whole <- function(new) {
      if (assigns && bound[[owner]]) e[[3]][[3]] <- new else e[[3]] <- new
      e
    }
    body <- if (assigns && bound[[owner]]) attr(e[[3]][[3]], "srcref")
    if (length(body) > 1L) line <- body[[2]][1]
    if (assigns) made[[1]] <- list("NA", line, owner, whole(NA))
    if (assigns && bound[[owner]] && length(arguments <- names(e[[3]][[2]]))) {
      made[[2]] <- list("its argument", line, owner, whole(as.name(arguments[1])))
    }
    walk(e, function(new) new, attr(parsed, "srcref")[[index]][1], owner)
    original <- written(plain(e))
    known <- original
    for (each in made) {
      changed <- tryCatch(written(plain(each[[4]])), error = function(e) original)
      if (changed %in% known) next
      known <- c(known, changed)
      mutants[[length(mutants) + 1L]] <- list(mistake = each[[1]], line = each[[2]], owner = each[[3]],
        original = with(index, original), source = with(index, changed))
    }
  }

  # Functions and values with nothing in them, whatever they should be; after `only` they are missing where that is wrong.
  nothing <- list()
  for (form in if (length(bound)) c("NULL", "right[0]")) {
    lines <- function(only) vapply(names(bound), function(name) {
      quoted <- sprintf("`%s`", name)
      if (!bound[[name]]) {
        value <- sprintf("local({ right <- %s; %s })", quoted, form)
        if (only) return(sprintf("if (!identical(%s, %s)) rm(%s)", value, quoted, quoted))
        return(sprintf("%s <- %s", quoted, value))
      }
      value <- if (only) sprintf("if (identical(%s, right)) right else stop('it is not right')", form) else form
      first <- if (only || form == "right[0]") "right <- own(...); " else ""
      sprintf("%s <- local({ own <- %s; function(...) { %s%s } })", quoted, quoted, first, value)
    }, "")
    nothing[[length(nothing) + 1L]] <- list(form = if (form == "NULL") form else "an empty vector or list",
      source = paste(c(text, lines(FALSE)), collapse = "\n"), only_right = paste(c(text, lines(TRUE)), collapse = "\n"))
  }
  cat(jsonlite::toJSON(list(mutants = mutants, nothing = nothing), auto_unbox = TRUE))
}
