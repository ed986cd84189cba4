# What R's mclust makes of four tables, for tests/families/gaussian/test_mclust.py:
#
#     Rscript tests/families/gaussian/mclust.R <folder with thyroid.csv.gz and seeds.csv.gz> > tests/families/gaussian/mclust.json
#
# Every structure starts from the same partition, that of mclust's own hierarchical clustering (hc, model VVV), and takes
# the same number of iterations. The inner iterations go on until nothing changes, so that every update is a maximum.
# wine.csv in the folder is scikit-learn's table: load_wine(as_frame=True).data.to_csv("wine.csv", index=False).
suppressPackageStartupMessages(library(mclust))
library(jsonlite)

folder <- commandArgs(trailingOnly = TRUE)[1]
measured <- function(name) {
  table <- read.csv(file.path(folder, name))
  as.matrix(table[, !(names(table) %in% c("class", "target", "label", "y"))])
}
tables <- list(
  iris = as.matrix(iris[, 1:4]),
  wine = measured("wine.csv"),
  thyroid = measured("thyroid.csv.gz"),
  seeds = measured("seeds.csv.gz")
)
structures <- c("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV")
steps <- c(1, 2, 5, 20)

run <- function(X, structure, z, iterations) {
  control <- emControl(itmax = c(iterations, 100000), tol = c(0, 1e-15))
  fit <- suppressWarnings(me(X, structure, z, control = control))
  if (is.na(fit$loglik)) NULL else fit
}

number <- function(values) signif(as.numeric(values), 10)

one <- function(X, structure, G, classification) {
  z <- unmap(classification)
  fits <- lapply(steps, function(iterations) run(X, structure, z, iterations))
  last <- fits[[length(steps)]]
  found <- list(log_likelihoods = lapply(fits, function(fit) if (is.null(fit)) NA else number(fit$loglik)))
  if (!is.null(last)) {
    found$bic <- number(bic(structure, last$loglik, nrow(X), ncol(X), G))
    found$labels <- paste0(map(last$z), collapse = "")
    if (G == 3) {
      upper <- upper.tri(diag(ncol(X)), diag = TRUE)
      found$weights <- number(last$parameters$pro)
      found$means <- number(last$parameters$mean)
      found$covariances <- number(apply(last$parameters$variance$sigma, 3, function(sigma) sigma[upper]))
    }
  }
  found
}

results <- list(mclust = as.character(packageVersion("mclust")), steps = steps, tables = list(), parameters = list())
for (name in names(tables)) {
  X <- tables[[name]]
  tree <- hc(X, modelName = "VVV", use = "VARS")
  for (G in c(2, 3, 5)) {
    classification <- as.integer(hclass(tree, G))
    fits <- lapply(setNames(structures, structures), function(structure) one(X, structure, G, classification))
    case <- list(table = name, n_components = G, start = paste0(classification, collapse = ""), fits = fits)
    results$tables <- c(results$tables, list(case))
  }
}
for (d in c(1, 2, 4, 13)) for (G in c(1, 3, 9)) {
  counts <- lapply(setNames(structures, structures), function(structure) nMclustParams(structure, d, G))
  results$parameters <- c(results$parameters, list(list(d = d, n_components = G, counts = counts)))
}
cat(toJSON(results, auto_unbox = TRUE, digits = NA, na = "null"))
